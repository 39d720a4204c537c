package mempool_test

import (
	"errors"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// A transaction that is only judged does not come in; one of an id that is there is not judged.
func TestSubmitToJudge(t *testing.T) {
	r := newRig(t)
	judge := func(tx *wire.MsgTx, limit int64) error {
		_, err := ask.Ask(t.Context(), r.pool, messages.SubmitTx{Tx: tx, MaxFee: limit, Test: true})
		return err
	}
	tx := spend(50*coin-1000, r.coins[0])
	if err := judge(tx, 1000); err != nil {
		t.Error(err)
	}
	if err := judge(tx, 999); !errors.Is(err, messages.ErrTxFee) {
		t.Errorf("of too much: %v", err)
	}
	if reject, ok := errors.AsType[*messages.TxReject](judge(spend(coin, wire.OutPoint{Index: 7}), 0)); !ok ||
		reject.Kind != messages.TxMissingInputs {
		t.Errorf("of nothing: %v", reject)
	}
	r.holds("judged")
	if err := r.submit(tx); err != nil {
		t.Fatal(err)
	}
	if err := judge(tx, 1); err != nil {
		t.Errorf("again: %v", err)
	}
	r.holds("submitted", tx)
}
