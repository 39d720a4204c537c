package sync_test

import (
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
)

// onPrunedBranch returns a chain of which the node has had five blocks after a height, and
// has pruned them: it is on a branch of seven there.
func onPrunedBranch(r *rig, fork int) *chaintest.Chain {
	r.t.Helper()
	first := r.remote()
	grow(first, fork+5)
	r.join(p2p.OutboundFullRelay).serve(first)
	second := r.remote()
	grow(second, fork)
	for range 7 {
		second.Mine(chaintest.Template{Solved: true, Script: []byte{0x52}})
	}
	r.join(p2p.OutboundFullRelay).serve(second)
	if r.chain.Active().Tip().Hash != second.Active().Tip().Hash {
		r.t.Fatalf("at height %d", r.height())
	}
	for b := first.Active().Tip(); b.Height > int32(fork); b = b.Parent {
		ours := r.chain.Lookup(&b.Hash)
		r.chain.SetStatus(ours, ours.Status()|chainview.Pruned)
	}
	return first
}

// prunedFork is where the branches part: they reach up to the time of the clock.
const prunedFork = 280

// Pruned blocks of another branch are asked for again once it has more work, and not
// before.
func TestPrunedBranchIsFetched(t *testing.T) {
	bubble(t, func(r *rig) {
		branch := onPrunedBranch(r, prunedFork)
		grow(branch, 1)
		less := r.join(p2p.OutboundFullRelay)
		less.forget()
		less.sayHeaders(branch, prunedFork+6, prunedFork+6)
		if got := less.asked(branch); len(got) != 0 {
			t.Errorf("a branch with less work: asked for %v", got)
		}
		grow(branch, 3)
		p := r.join(p2p.OutboundFullRelay)
		p.forget()
		p.sayHeaders(branch, prunedFork+7, prunedFork+9)
		got := p.asked(branch)
		if len(got) != 9 || slices.Min(got) != prunedFork+1 || slices.Max(got) != prunedFork+9 {
			t.Fatalf("asked for %v, want the blocks after %d", got, prunedFork)
		}
		slices.Sort(got)
		slices.Reverse(got)
		for _, h := range got {
			p.sayBlock(branch, h)
		}
		if r.chain.Active().Tip().Hash != branch.Active().Tip().Hash {
			t.Errorf("at height %d, want the branch with more work", r.height())
		}
		if p.gone != "" {
			t.Errorf("left for %q", p.gone)
		}
	})
}

// A pruned block that nobody asked for is not stored again, although it has more work than
// the tip by now. Announced as a compact block, it is not asked for either.
func TestPrunedBlockUnasked(t *testing.T) {
	bubble(t, func(r *rig) {
		const fork = prunedFork
		branch := onPrunedBranch(r, fork)
		r.chain.SetActive(r.chain.Active().At(fork + 2))
		p := r.join(p2p.OutboundFullRelay)
		p.forget()
		p.sayBlock(branch, fork+3)
		p.say(compactOf(t, branch, fork+3))
		hash := branch.Active().At(fork + 3).Hash
		if r.chain.Lookup(&hash).Status()&chainview.Pruned == 0 {
			t.Error("it is stored again")
		}
		if got := take[*codec.GetBlockTxn](p); len(got) != 0 || p.gone != "" || p.handled() != p.said {
			t.Errorf("asked for %v, left for %q, %d of %d are handled", got, p.gone, p.handled(), p.said)
		}
	})
}

// compactOf returns a block as a compact block that names a transaction nobody has.
func compactOf(t *testing.T, c *chaintest.Chain, height int32) *codec.CmpctBlock {
	t.Helper()
	block := blockAt(t, c, height)
	return &codec.CmpctBlock{
		Header: block.Header, ShortIDs: []codec.ShortID{{1}},
		Prefilled: []codec.PrefilledTx{{Tx: block.Transactions[0]}},
	}
}
