package wallets_test

import (
	"bytes"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// pooled is a wallet with coins of 1 BTC whose transactions the memory pool has.
func pooled(t *testing.T, s setup, types ...string) (*rig, *ask.Ref) {
	t.Helper()
	var mu sync.Mutex
	var content []messages.PoolTx
	s.pool = func() []messages.PoolTx {
		mu.Lock()
		defer mu.Unlock()
		return content
	}
	r, ref := rich(t, s, types...)
	mu.Lock()
	defer mu.Unlock()
	for _, coin := range do(t, ref, messages.ListUnspent{MaxConf: 1, IncludeUnsafe: true}) {
		details := do(t, ref, messages.GetTransaction{TxID: coin.TxID})
		tx := new(wire.MsgTx)
		if err := tx.Deserialize(bytes.NewReader(details.Tx.Raw)); err != nil {
			t.Fatal(err)
		}
		content = append(content, messages.PoolTx{Tx: tx, ID: tx.TxHash(), WID: tx.WitnessHash()})
	}
	return r, ref
}

func paidTo(tx *wire.MsgTx, script []byte) (sum btcutil.Amount) {
	for _, out := range tx.TxOut {
		if bytes.Equal(out.PkScript, script) {
			sum += btcutil.Amount(out.Value)
		}
	}
	return sum
}

// A transaction is replaced by a transaction that spends and pays the same, with a higher
// fee out of the change. Both tell of each other, also after the wallet was loaded again.
func TestBumpFee(t *testing.T) {
	r, ref := pooled(t, setup{}, "bech32")
	q := pay(60_000_000)
	q.Values = map[string]string{"comment": "rent"}
	q.Key = &messages.IdempotencyKey{Key: "order 7", Arguments: "a"}
	first := do(t, ref, q)
	got := do(t, ref, messages.BumpFee{TxID: first.TxID, FeeRate: new(int64(20_000)), Send: true})
	if got.OldFee != first.Fee || got.Fee < 9*first.Fee || got.TxID != got.Tx.TxHash() {
		t.Errorf("got %+v after a fee of %v", got, first.Fee)
	}
	if len(got.Tx.TxIn) != 1 || got.Tx.TxIn[0].PreviousOutPoint != first.Tx.TxIn[0].PreviousOutPoint ||
		paidTo(got.Tx, foreign) != 60_000_000 ||
		paidTo(got.Tx, first.Tx.TxOut[first.Change].PkScript) != 40_000_000-got.Fee {
		t.Errorf("%+v was replaced by %+v", first.Tx, got.Tx)
	}
	_, err := try(t, ref, messages.BumpFee{TxID: first.TxID, Send: true})
	refusal(t, err, -4, "Cannot bump transaction "+first.TxID.String()+" which was already bumped by transaction "+
		got.TxID.String())
	ref = again(t, r)
	older := do(t, ref, messages.GetTransaction{TxID: first.TxID}).Tx
	newer := do(t, ref, messages.GetTransaction{TxID: got.TxID}).Tx
	if older.ReplacedBy == nil || *older.ReplacedBy != got.TxID || older.Comment != "rent" ||
		newer.Replaces == nil || *newer.Replaces != first.TxID || newer.Comment != "rent" {
		t.Errorf("told of %+v and %+v", older, newer)
	}
	if repeated := do(t, ref, q); repeated.TxID != got.TxID {
		t.Errorf("the key of %v tells of %v, which replaced %v", q.Key.Key, repeated.TxID, first.TxID)
	}
}

// A replacement that is made but not sent changes nothing.
func TestBumpFeeUnsent(t *testing.T) {
	_, ref := pooled(t, setup{}, "bech32", "bech32m")
	first := do(t, ref, pay(60_000_000))
	for range 2 {
		got := do(t, ref, messages.BumpFee{TxID: first.TxID})
		if got.Fee <= got.OldFee || got.Tx.HasWitness() {
			t.Errorf("got %+v", got)
		}
	}
	if n := do(t, ref, messages.GetWalletInfo{}).TxCount; n != 3 {
		t.Errorf("%d transactions, want 3", n)
	}
}

// Other outputs may be paid instead, and another output may be the change.
func TestBumpFeeOutputs(t *testing.T) {
	_, ref := pooled(t, setup{}, "bech32")
	first := do(t, ref, pay(60_000_000))
	other := append([]byte{0, 20}, bytes.Repeat([]byte{8}, 20)...)
	q := messages.BumpFee{TxID: first.TxID, Payments: []messages.Payment{{Script: other, Amount: 30_000_000}}}
	got := do(t, ref, q)
	if paidTo(got.Tx, other) != 30_000_000 || paidTo(got.Tx, foreign) != 0 || len(got.Tx.TxOut) != 2 {
		t.Errorf("got %+v", got.Tx.TxOut)
	}
	change := uint32(1 - first.Change)
	got = do(t, ref, messages.BumpFee{TxID: first.TxID, ChangeIndex: &change})
	if paidTo(got.Tx, foreign) != 60_000_000+first.Fee-got.Fee {
		t.Errorf("got %+v, fee %v", got.Tx.TxOut, got.Fee)
	}
	own := first.Tx.TxOut[first.Change].PkScript
	q.Payments = []messages.Payment{{Script: own, Amount: 70_000_000}}
	got = do(t, ref, q)
	if paidTo(got.Tx, own) != 70_000_000-got.Fee {
		t.Errorf("to itself: %+v, fee %v", got.Tx.TxOut, got.Fee)
	}
	q.ChangeIndex = &change
	_, err := try(t, ref, q)
	refusal(t, err, -8, "The options 'outputs' and 'original_change_index' are incompatible. You can only either "+
		"specify a new set of outputs, or designate a change output to be recycled.")
	_, err = try(t, ref, messages.BumpFee{TxID: first.TxID, ChangeIndex: new(uint32(2))})
	refusal(t, err, -8, "Change position is out of range")
}

func TestBumpFeeRefusals(t *testing.T) {
	r, ref := pooled(t, setup{}, "bech32")
	incoming := do(t, ref, messages.ListUnspent{MaxConf: 1, IncludeUnsafe: true})[0]
	_, err := try(t, ref, messages.BumpFee{TxID: chainhash.Hash{1}, Send: true})
	refusal(t, err, -5, "Invalid or non-wallet transaction id")
	_, err = try(t, ref, messages.BumpFee{TxID: incoming.TxID, Send: true})
	refusal(t, err, -1, chainhash.Hash{1}.String()+":0 is already spent")
	first := do(t, ref, pay(60_000_000))
	_, err = try(t, ref, messages.BumpFee{TxID: first.TxID, FeeRate: new(int64(2000)), Send: true})
	if e, ok := errors.AsType[*messages.WalletError](err); !ok || e.Code != -8 {
		t.Errorf("the same rate again: %v", err)
	}
	all := []messages.Payment{{Script: foreign, Amount: 100_000_000}}
	_, err = try(t, ref, messages.BumpFee{TxID: first.TxID, FeeRate: new(int64(20_000)), Payments: all, Send: true})
	refusal(t, err, -4, "Unable to create transaction. Insufficient funds")
	r.changes.Publish(messages.PoolChanged{Changes: []messages.PoolChange{{Tx: first.Tx, Added: true}}})
	do(t, r.ref, messages.SyncWallets{})
	do(t, ref, pay(30_000_000))
	_, err = try(t, ref, messages.BumpFee{TxID: first.TxID, Send: true})
	refusal(t, err, -8, "Transaction has descendants in the wallet")
}

// Where the file cannot be written nothing is sent, and nothing counts as replaced.
func TestBumpFeeFullDisk(t *testing.T) {
	var full atomic.Bool
	_, ref := pooled(t, setup{fail: func() error {
		if full.Load() {
			return errors.New("no space left on device")
		}
		return nil
	}}, "bech32")
	first := do(t, ref, pay(60_000_000))
	full.Store(true)
	if got, err := try(t, ref, messages.BumpFee{TxID: first.TxID, Send: true}); err == nil {
		t.Fatalf("sent %v", got)
	}
	full.Store(false)
	if tx := do(t, ref, messages.GetTransaction{TxID: first.TxID}).Tx; tx.ReplacedBy != nil {
		t.Errorf("replaced by %v", tx.ReplacedBy)
	}
	if n := do(t, ref, messages.GetWalletInfo{}).TxCount; n != 2 {
		t.Errorf("%d transactions, want 2", n)
	}
}
