package mempool_test

import (
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// Of invalidated blocks the ten highest give their transactions back. Transactions of deeper blocks
// are lost, and their descendants leave the pool.
func TestInvalidatedDeep(t *testing.T) {
	for _, above := range []int{9, 10} {
		r := newRig(t)
		parent := spend(50*coin-1000, r.coins[0])
		child := spend(50*coin-2000, outOf(parent))
		if err := r.submit(parent); err != nil {
			t.Fatal(err)
		}
		hash := r.mine(1)
		r.empty(above)
		if err := r.submit(child); err != nil {
			t.Fatal(err)
		}
		ok(ask.Ask(t.Context(), r.chain, messages.InvalidateBlock{Hash: hash})).must(t)
		want := []*wire.MsgTx{parent, child}
		if above == 10 {
			want = nil
		}
		r.holds("invalidated", want...)
	}
}
