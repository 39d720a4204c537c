package bitcoin

import (
	"github.com/seed61375155/trawl/internal/chainview"
)

// preferBest moves to the branch with the most work. Of several branches that are
// reconsidered at once btcd tries the one that it comes upon last; it looks for the
// best only when a block is invalidated, so that the wrong branch is, for a moment
// that nobody sees.
func (e *Engine) preferBest() error {
	for range e.tree.Tips() { // each time one branch more is left
		active := e.tree.Active()
		best := e.bestBranch(active)
		if best == nil {
			return nil
		}
		wrong := active.At(active.Fork(best).Height + 1)
		if wrong == nil || !e.WholeAbove(wrong) {
			return nil
		}
		err := e.change(func() error {
			return validating(&wrong.Hash, func() error {
				if err := e.chain.InvalidateBlock(&wrong.Hash); err != nil {
					return err
				}
				return e.chain.ReconsiderBlock(&wrong.Hash)
			})
		})
		if err != nil {
			return err
		}
		e.clearBranches(wrong)
	}
	return nil
}

// clearBranches makes the tree agree with btcd, which does not write at once that a
// branch which it does not move to is no longer invalid.
func (e *Engine) clearBranches(first *chainview.Block) {
	for _, tip := range e.tree.Tips() {
		if tip.Ancestor(first.Height) != first {
			continue
		}
		for b := tip; b != first.Parent; b = b.Parent {
			e.tree.SetStatus(b, b.Status()&^(chainview.Failed|chainview.FailedAncestor))
		}
	}
}

// bestBranch returns the last block of the branch that has the most work and more
// than the active chain, and that btcd can connect; nil when there is none.
func (e *Engine) bestBranch(active *chainview.Chain) *chainview.Block {
	best := active.Tip()
	for _, tip := range e.tree.Tips() {
		b := tip
		for b != nil && e.stored(&b.Hash) == nil {
			b = b.Parent // known by its header alone
		}
		if b == nil || b.Status().Invalid() || b.Work.Cmp(best.Work) <= 0 || !e.WholeBranch(b) {
			continue
		}
		best = b
	}
	if best == active.Tip() {
		return nil
	}
	return best
}
