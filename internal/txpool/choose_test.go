package txpool_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/txpool"
)

// ids are the ids of a block's transactions.
func ids(chosen []*txpool.Entry) []chainhash.Hash {
	list := make([]chainhash.Hash, len(chosen))
	for i, e := range chosen {
		list[i] = e.ID
	}
	return list
}

// Transactions of one package that depend on as many others are in the order of
// their ids, whatever they pay.
func TestChooseOrdersPackageByID(t *testing.T) {
	r := newRig(t)
	for range 12 {
		low := r.must(r.tx(200, 1, r.coin()))
		lower := r.must(r.tx(110, 1, r.coin()))
		child := r.must(r.tx(50_000, 1, out(low, 0), out(lower, 0)))
		want := []chainhash.Hash{low.TxHash(), lower.TxHash(), child.TxHash()}
		if bytes.Compare(want[0][:], want[1][:]) > 0 {
			want[0], want[1] = want[1], want[0]
		}
		if got := ids(r.pool.Choose(4_000_000, 8000, txpool.PerKvB(1))); !slices.Equal(got, want) {
			t.Fatalf("order %v, want %v", got, want)
		}
		r.pool.Connect([]*wire.MsgTx{low, lower, child}, r.now.Time)
		for _, tx := range []*wire.MsgTx{low, lower, child} {
			for _, in := range tx.TxIn {
				delete(r.coins, in.PreviousOutPoint)
			}
		}
	}
}

// A package that did not fit is tried again once part of it is in the block: then
// only the rest must fit.
func TestChooseTriesAgain(t *testing.T) {
	r := newRig(t)
	parent := r.must(r.tx(100_000, 60, r.coin()))
	var from []wire.OutPoint
	for i := range uint32(60) {
		from = append(from, out(parent, i))
	}
	// The child pays more for its size than the parent, and fits only after it.
	child := r.must(r.tx(500_000, 1, from...))
	entry := r.pool.Lookup(new(child.TxHash()))
	alone := entry.Weight
	limit := alone + r.pool.Lookup(new(parent.TxHash())).Weight + 400 + 8
	if got := r.pool.Choose(limit, 400, txpool.PerKvB(1)); len(got) != 2 {
		t.Errorf("%d transactions in a block that has room for both", len(got))
	}
	if got := r.pool.Choose(limit-100, 400, txpool.PerKvB(1)); len(got) != 1 || got[0].ID != parent.TxHash() {
		t.Errorf("chose %v where the parent alone fits", ids(got))
	}
}

// Updates counts transactions that come, go, are prioritised or are taken by a
// block, and moves of the tip.
func TestUpdates(t *testing.T) {
	r := newRig(t)
	at := r.pool.Updates()
	grows := func(what string, n uint32) {
		t.Helper()
		if got := r.pool.Updates(); got != at+n {
			t.Errorf("%s counts %d, want %d", what, got-at, n)
		}
		at = r.pool.Updates()
	}
	tx := r.must(r.tx(1000, 1, r.coin()))
	grows("a transaction", 1)
	id := tx.TxHash()
	r.pool.Prioritise(&id, 100)
	grows("its priority", 1)
	r.pool.Prioritise(&chainhash.Hash{1}, 100)
	grows("the priority of an unknown one", 0)
	r.pool.Choose(4_000_000, 8000, txpool.PerKvB(1))
	grows("a choice", 0)
	r.pool.Connect([]*wire.MsgTx{tx}, r.now.Time)
	r.pool.Moved(1)
	grows("a block with it", 2)
}
