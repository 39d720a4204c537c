package txs

import (
	"errors"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

func wantRefusal(t *testing.T, err error, code int, text string) {
	t.Helper()
	e, ok := errors.AsType[*messages.WalletError](err)
	if !ok || e.Code != code || e.Text != text {
		t.Errorf("got %v, want %d %s", err, code, text)
	}
}

// A transaction that left the mempool is given up with its descendants, also in the file:
// the coins are there again. When it confirms after all it counts again.
func TestAbandon(t *testing.T) {
	r := newRig(0, scriptOf(1))
	r.ConnectBlock(blockOf(0), 1)
	coin := txOf(1, []wire.OutPoint{foreign(1)}, pay(10, 1))
	parent := txOf(2, []wire.OutPoint{outOf(coin, 0)}, pay(9, 1))
	child := txOf(3, []wire.OutPoint{outOf(parent, 0)}, pay(8, 1))
	r.ConnectBlock(blockOf(1, coin), 1)
	r.AddMempoolTx(parent, 1)
	r.AddMempoolTx(child, 1)
	const no = "Transaction not eligible for abandonment"
	wantRefusal(t, r.spending.Abandon(chainhash.Hash{5}), -5, "Invalid or non-wallet transaction id")
	wantRefusal(t, r.spending.Abandon(coin.TxHash()), -5, no)
	wantRefusal(t, r.spending.Abandon(parent.TxHash()), -5, no)
	r.RemoveMempoolTx(child)
	r.RemoveMempoolTx(parent)
	r.log.Take()
	if err := r.spending.Abandon(parent.TxHash()); err != nil {
		t.Fatal(err)
	}
	if b := r.balances(1); b.Trusted != 10 {
		t.Errorf("balances %+v", b)
	}
	if got := r.Unconfirmed(); len(got) != 0 {
		t.Errorf("%d transactions would be sent again", len(got))
	}
	if written := r.log.Take(); len(written) != 2 {
		t.Errorf("%d records are written, want 2", len(written))
	}
	for _, tx := range []*wire.MsgTx{parent, child} {
		if at := r.txs[tx.TxHash()]; at.record.State != walletfile.AbandonedState() {
			t.Errorf("transaction %d is written as %+v", tx.LockTime, at.record.State)
		}
	}
	if err := r.spending.Abandon(parent.TxHash()); err != nil || len(r.log.Take()) != 0 {
		t.Errorf("a second time: %v", err)
	}
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
	r.ConnectBlock(blockOf(2, parent), 1)
	if b := r.balances(1); b.Trusted != 9 {
		t.Errorf("after its block: %+v", b)
	}
}

// A transaction that a block excludes is not given up: it is in conflict.
func TestAbandonConflicted(t *testing.T) {
	r := newRig(0, scriptOf(1))
	r.ConnectBlock(blockOf(0), 1)
	parent := txOf(1, []wire.OutPoint{foreign(1)}, pay(9, 1))
	child := txOf(2, []wire.OutPoint{outOf(parent, 0), foreign(2)}, pay(8, 1))
	r.AddMempoolTx(parent, 1)
	r.AddMempoolTx(child, 1)
	r.RemoveMempoolTx(child)
	r.RemoveMempoolTx(parent)
	r.ConnectBlock(blockOf(1, coinbaseOf(1), txOf(3, []wire.OutPoint{foreign(2)}, pay(1, 7))), 1)
	wantRefusal(t, r.spending.Abandon(child.TxHash()), -5, "Transaction not eligible for abandonment")
	if err := r.spending.Abandon(parent.TxHash()); err != nil {
		t.Fatal(err)
	}
	if got := r.txs[child.TxHash()].state.kind; got != conflicted {
		t.Errorf("the child is in state %v", got)
	}
}
