package txs

import (
	"math"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/messages"
)

// A transaction and its descendants cannot be mined as long as the mempool has a
// foreign double-spend. Its coins come back, and go again.
func TestMempoolConflict(t *testing.T) {
	paid := txOf(1, []wire.OutPoint{foreign(1)}, pay(20, 1))
	spend := txOf(2, []wire.OutPoint{outOf(paid, 0), foreign(2)}, pay(15, 1))
	child := txOf(3, []wire.OutPoint{outOf(spend, 0)}, pay(11, 1))
	against := txOf(4, []wire.OutPoint{foreign(2)}, pay(9, 7))
	other := txOf(5, []wire.OutPoint{foreign(2), foreign(3)}, pay(9, 7))
	for name, leave := range map[string]func(*rig){
		"removed": func(r *rig) { r.RemoveMempoolTx(against); r.RemoveMempoolTx(other) },
		"cleared": func(r *rig) { r.ClearMempool() },
	} {
		r := newRig(0, scriptOf(1))
		check := func(when string, trusted btcutil.Amount, unconfirmed int) {
			t.Helper()
			if b := r.balances(0); b.Trusted != trusted || b.Pending != 0 {
				t.Errorf("%s, %s: %+v, want %d", name, when, b, trusted)
			}
			if got := len(r.Unconfirmed()); got != unconfirmed {
				t.Errorf("%s, %s: %d may be mined, want %d", name, when, got, unconfirmed)
			}
			if err := r.Verify(); err != nil {
				t.Errorf("%s, %s: %v", name, when, err)
			}
		}
		r.ConnectBlock(blockOf(0, coinbaseOf(9), paid), 1)
		check("at first", 20, 0)
		r.AddMempoolTx(spend, 1)
		r.AddMempoolTx(child, 1)
		r.RemoveMempoolTx(child)
		r.RemoveMempoolTx(spend)
		check("spent", 0, 2)
		if synced := r.AddMempoolTx(against, 1); synced.Changed {
			t.Errorf("%s: a foreign transaction concerns the wallet", name)
		}
		check("in conflict", 20, 0)
		r.AddMempoolTx(against, 1) // again
		r.AddMempoolTx(other, 1)
		check("in conflict with two", 20, 0)
		r.RemoveMempoolTx(other)
		check("in conflict with one again", 20, 0)
		r.AddMempoolTx(other, 1)
		leave(r)
		check("without conflict", 0, 2)
	}
}

// All that descends from a coinbase that left the chain is abandoned with it, also beside
// what spends two of its outputs.
func TestAbandonedWithItsCoinbase(t *testing.T) {
	r := newRig(0, scriptOf(1))
	coinbase := coinbaseOf(1, pay(5, 1), pay(6, 1), pay(7, 1), pay(8, 1))
	one := txOf(2, []wire.OutPoint{outOf(coinbase, 0)}, pay(4, 1))
	both := txOf(3, []wire.OutPoint{outOf(coinbase, 1), outOf(coinbase, 2)}, pay(9, 1), pay(2, 1))
	last := txOf(4, []wire.OutPoint{outOf(coinbase, 3), outOf(both, 0)}, pay(3, 1))
	child := txOf(5, []wire.OutPoint{outOf(one, 0), outOf(both, 1)}, pay(3, 1))
	r.ConnectBlock(blockOf(0), 1)
	r.ConnectBlock(blockOf(1, coinbase), 1)
	for _, tx := range []*wire.MsgTx{one, both, last, child} {
		r.AddMempoolTx(tx, 1)
	}
	r.DisconnectBlock(blockOf(1, coinbase), messages.Tip{Hash: blockOf(0).Hash}, 1)
	for i, tx := range []*wire.MsgTx{coinbase, one, both, last, child} {
		if kind := r.txs[tx.TxHash()].state.kind; kind != abandoned {
			t.Errorf("transaction %d is not abandoned: %v", i+1, kind)
		}
	}
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
}

// Transactions of blocks that left the chain are listed as removed, even if they are
// in conflict with the chain now. Elsewhere they are not listed.
func TestRemovedConflict(t *testing.T) {
	r := newRig(0, scriptOf(1))
	tx := txOf(1, []wire.OutPoint{foreign(1)}, pay(5, 1))
	r.book.SetLabel(scriptOf(1), "a", book.PurposeReceive)
	r.ConnectBlock(blockOf(0), 1)
	r.ConnectBlock(blockOf(1, coinbaseOf(1), tx), 1)
	r.DisconnectBlock(blockOf(1, coinbaseOf(1), tx), messages.Tip{Hash: blockOf(0).Hash}, 1)
	r.ConnectBlock(blockOf(1, coinbaseOf(2), txOf(2, []wire.OutPoint{foreign(1)}, pay(4, 7))), 1)
	since := Since{Removed: [][]chainhash.Hash{{tx.TxHash()}}}
	label := "a"
	for _, wanted := range []*string{nil, &label} {
		got := r.reports.SinceBlock(messages.ListSinceBlock{IncludeRemoved: true, Label: wanted}, since)
		if len(got.Transactions) != 0 || len(got.Removed) != 1 || got.Removed[0].Amount != 5 ||
			got.Removed[0].Tx.Confirmations != -1 {
			t.Errorf("got %+v", got)
		}
		if got := r.reports.SinceBlock(messages.ListSinceBlock{Label: wanted}, since); len(got.Removed) > 0 {
			t.Errorf("not asked for: %+v", got.Removed)
		}
	}
	if got := r.reports.ListTransactions(messages.ListTransactions{Count: 10}); len(got) != 0 {
		t.Errorf("listed: %+v", got)
	}
}

// Verify notices what is not as it would be computed anew.
func TestVerify(t *testing.T) {
	for name, change := range map[string]func(*rig, *tx){
		"coin missing":      func(r *rig, t *tx) { delete(r.Ledger.balances.coins, t.outs[0]) },
		"coin too many":     func(r *rig, t *tx) { r.Ledger.balances.coins[t.outs[1]] = true },
		"total":             func(r *rig, _ *tx) { r.Ledger.balances.total[group{}]++ },
		"height":            func(r *rig, _ *tx) { r.Ledger.balances.heights[1][group{}]++ },
		"not filed":         func(r *rig, t *tx) { r.states.remove(t) },
		"under another":     func(r *rig, t *tx) { r.states.remove(t); r.states.byBlock[chainhash.Hash{7}] = []*tx{t} },
		"not in a block":    func(r *rig, t *tx) { t.state.kind = abandoned },
		"not in the pool":   func(r *rig, t *tx) { r.states.pool[t] = true },
		"somebody else's":   func(r *rig, _ *tx) { r.owner.scripts = r.owner.scripts[1:] },
		"the wallet's, too": func(r *rig, _ *tx) { r.owner.scripts = append(r.owner.scripts, scriptOf(9)) },
	} {
		r := newRig(0, scriptOf(1), scriptOf(2))
		paid := txOf(1, []wire.OutPoint{foreign(1)}, pay(20, 1), pay(5, 9))
		r.ConnectBlock(blockOf(0), 1)
		r.ConnectBlock(blockOf(1, coinbaseOf(9), paid), 1)
		r.AddMempoolTx(txOf(2, []wire.OutPoint{foreign(2)}, pay(3, 2)), 1)
		if err := r.Verify(); err != nil {
			t.Errorf("%s: before: %v", name, err)
		}
		change(r, r.txs[paid.TxHash()])
		if err := r.Verify(); err == nil {
			t.Errorf("%s: not noticed", name)
		}
	}
}

// An output that a transaction of the wallet does not have is nobody's.
func TestNoSuchOutput(t *testing.T) {
	r := newRig(0, scriptOf(1))
	paid := txOf(1, []wire.OutPoint{foreign(1)}, pay(20, 1), pay(3, 7))
	r.ConnectBlock(blockOf(0, coinbaseOf(9), paid), 1)
	for index, want := range map[uint32]bool{0: true, 1: false, 2: false, math.MaxUint32: false} {
		spend := txOf(2, []wire.OutPoint{outOf(paid, index)}, pay(15, 7))
		if synced := r.AddMempoolTx(spend, 1); synced.Changed != want {
			t.Errorf("output %d is the wallet's: %v", index, synced.Changed)
		}
		r.RemoveMempoolTx(spend)
	}
}

// The empty label finds what has none, too. Sent entries have a fee, received entries
// do not.
func TestEmptyLabel(t *testing.T) {
	r := newRig(0, scriptOf(1), scriptOf(2), scriptOf(3))
	r.book.SetLabel(scriptOf(1), "a", book.PurposeReceive)
	r.book.SetLabel(scriptOf(2), "", book.PurposeReceive)
	r.ConnectBlock(blockOf(0), 1)
	paid := txOf(1, []wire.OutPoint{foreign(1)}, pay(1, 1), pay(2, 2), pay(4, 3))
	r.ConnectBlock(blockOf(1, coinbaseOf(9), paid), 1)
	r.AddMempoolTx(txOf(2, []wire.OutPoint{outOf(paid, 0), outOf(paid, 1)}, pay(2, 7)), 1)
	a, none, unknown := "a", "", "b"
	for _, test := range []struct {
		label *string
		want  []btcutil.Amount // fees of those sent follow
	}{
		{&a, []btcutil.Amount{1}},
		{&none, []btcutil.Amount{2, 4}},
		{&unknown, nil},
		{nil, []btcutil.Amount{1, 2, 4, -2, -1}},
	} {
		var got []btcutil.Amount
		for _, e := range r.reports.ListTransactions(messages.ListTransactions{Count: 10, Label: test.label}) {
			got = append(got, e.Amount)
			if e.HasFee {
				got = append(got, e.Fee)
			}
		}
		slices.Sort(got)
		slices.Sort(test.want)
		if !slices.Equal(got, test.want) {
			t.Errorf("got %v, want %v", got, test.want)
		}
	}
}
