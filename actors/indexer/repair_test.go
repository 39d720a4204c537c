package indexer_test

import (
	"errors"
	"os"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/segment"
)

// VerifyIndex finds what is damaged, and rebuilds it as it was.
func TestVerifyIndex(t *testing.T) {
	for _, test := range []struct {
		name   string
		damage func(testing.TB, *rig)
		want   int // segments rebuilt
	}{
		{"nothing", func(testing.TB, *rig) {}, 0},
		{"a flipped bit", func(tb testing.TB, r *rig) { tb.Helper(); r.flip(tb, 1) }, 1},
		{"a short file", func(tb testing.TB, r *rig) { tb.Helper(); r.cut(tb, 2) }, 1},
		{"a missing file", func(tb testing.TB, r *rig) {
			tb.Helper()
			if err := os.Remove(r.store.Segments()[0].Path); err != nil {
				tb.Fatal(err)
			}
		}, 1},
		{"all at once", func(tb testing.TB, r *rig) {
			tb.Helper()
			r.flip(tb, 0)
			r.cut(tb, 1)
			r.flip(tb, len(r.store.Segments())-1)
		}, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			chain := newChain(300)
			r := newRig(t, chain)
			r.spawn()
			r.announce(t)
			do(t, r.Ref, messages.VerifyIndex{}) // and that after the start is over
			test.damage(t, r)
			n := len(r.store.Segments())
			if got := do(t, r.Ref, messages.VerifyIndex{}); got.Segments != n || got.Rebuilt != test.want {
				t.Errorf("got %+v, want %d of %d segments rebuilt", got, test.want, n)
			}
			if got := do(t, r.Ref, messages.VerifyIndex{}); got.Rebuilt != 0 {
				t.Errorf("the second time %+v", got)
			}
			r.check(t, chain, chain.Active().Tip())
		})
	}
}

// Requests during a check are served by a later check.
func TestVerifyIndexByMany(t *testing.T) {
	r := newRig(t, newChain(300))
	r.spawn()
	r.announce(t)
	const callers = 8
	answers := make(chan error, callers)
	for range callers {
		go func() { _, err := ask.Ask(t.Context(), r.Ref, messages.VerifyIndex{}); answers <- err }()
	}
	for range callers {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
}

// Filters that were damaged while the node was down are rebuilt after the start, without a
// request.
func TestDamageBeforeTheStart(t *testing.T) {
	chain := newChain(300)
	r := newRig(t, chain)
	r.spawn()
	r.announce(t)
	if err := r.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	damaged := r.flip(t, 1)
	r.spawn()
	r.announce(t)
	if got := do(t, r.Ref, messages.VerifyIndex{}); got.Rebuilt != 0 {
		t.Errorf("the check after the start left %+v", got)
	}
	if _, err := r.store.ByHash(&damaged); err != nil {
		t.Error(err)
	}
}

// If a segment cannot be rebuilt, the caller gets an error, and the indexer lives on.
func TestVerifyIndexFails(t *testing.T) {
	chain := newChain(300)
	r := newRig(t, chain)
	r.spawn()
	r.announce(t)
	do(t, r.Ref, messages.VerifyIndex{})
	damaged := r.flip(t, 1)
	r.flip(t, 2)
	chain.Fail(chain.Lookup(&damaged), errBroken)
	got, err := ask.Ask(t.Context(), r.Ref, messages.VerifyIndex{})
	if !errors.Is(err, errBroken) || got.Rebuilt != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	chain.Fail(chain.Lookup(&damaged), nil)
	if got := do(t, r.Ref, messages.VerifyIndex{}); got.Rebuilt != 1 {
		t.Errorf("once the block can be read: %+v", got)
	}
	chain.MineN(1)
	r.announce(t)
}

func TestRepairFilter(t *testing.T) {
	chain := newChain(300)
	r := newRig(t, chain)
	r.spawn()
	r.announce(t)
	do(t, r.Ref, messages.VerifyIndex{})

	damaged := r.flip(t, 1)
	do(t, r.Ref, messages.RepairFilter{Block: damaged})
	do(t, r.Ref, messages.RepairFilter{Block: damaged}) // is not damaged any more
	r.check(t, chain, chain.Active().Tip())

	if _, err := ask.Ask(
		t.Context(), r.Ref, messages.RepairFilter{Block: chainhash.Hash{1}},
	); !errors.Is(err, segment.ErrNotFound) {
		t.Errorf("unknown block: %v", err)
	}

	damaged = r.flip(t, 2)
	chain.Fail(chain.Lookup(&damaged), errBroken)
	if _, err := ask.Ask(t.Context(), r.Ref, messages.RepairFilter{Block: damaged}); !errors.Is(err, errBroken) {
		t.Errorf("unreadable block: %v", err)
	}
	// The other filters of a segment are rebuilt even if the rebuilding of one filter fails.
	r.cut(t, 2)
	next := chain.Active().Next(chain.Lookup(&damaged)).Hash
	do(t, r.Ref, messages.RepairFilter{Block: next})
	if _, err := r.store.ByHash(&next); err != nil {
		t.Error(err)
	}
	chain.Fail(chain.Lookup(&damaged), nil)
	do(t, r.Ref, messages.RepairFilter{Block: damaged})
	r.check(t, chain, chain.Active().Tip())
}

// Repairs asked for at the same time are all served.
func TestRepairFilterByMany(t *testing.T) {
	chain := newChain(300)
	r := newRig(t, chain)
	r.spawn()
	r.announce(t)
	do(t, r.Ref, messages.VerifyIndex{})
	n := len(r.store.Segments())
	answers := make(chan error, n)
	for s := range n {
		block := r.flip(t, s)
		go func() { _, err := ask.Ask(t.Context(), r.Ref, messages.RepairFilter{Block: block}); answers <- err }()
	}
	for range n {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	r.check(t, chain, chain.Active().Tip())
}
