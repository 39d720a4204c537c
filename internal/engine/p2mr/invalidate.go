package p2mr

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// Invalidate marks a block and its descendants as invalid and moves to the
// best chain without them.
func (e *Engine) Invalidate(hash *chainhash.Hash) error {
	b := e.tree.Lookup(hash)
	if b == nil {
		return messages.ErrBlockNotFound
	}
	if b.Height == 0 {
		return nil // as in Core, nothing happens
	}
	if e.tree.Active().Contains(b) && !e.WholeAbove(b) {
		return messages.ErrBlockPruned
	}
	c := begin()
	e.fail(c, b)
	return e.settleTip(c)
}

// Reconsider takes back Invalidate for a block, its ancestors and its
// descendants, and moves to the best chain with them.
func (e *Engine) Reconsider(hash *chainhash.Hash) error {
	b := e.tree.Lookup(hash)
	if b == nil {
		return messages.ErrBlockNotFound
	}
	c := begin()
	for at := b; at != nil; at = at.Parent {
		e.mark(c, at, at.Status()&^chainview.Failed)
	}
	for _, tip := range e.tree.Tips() {
		if tip.Ancestor(b.Height) != b {
			continue
		}
		for at := tip; at != b; at = at.Parent {
			e.mark(c, at, at.Status()&^chainview.Failed)
		}
	}
	e.spread(c)
	return e.settleTip(c)
}

// Precious has a block count as if it had come before all others with the same work.
func (e *Engine) Precious(hash *chainhash.Hash) error {
	b := e.tree.Lookup(hash)
	if b == nil {
		return messages.ErrBlockNotFound
	}
	tip := e.tree.Active().Tip()
	if b.Work.Cmp(tip.Work) < 0 {
		return nil
	}
	if e.preferAt == nil || tip.Work.Cmp(e.preferAt) > 0 {
		e.preferred = 0 // the chain has grown since
	}
	e.preferAt = tip.Work
	e.preferred--
	e.places[b].taken = e.preferred
	return e.settleTip(begin())
}

// settleTip moves to the best chain of the whole tree.
func (e *Engine) settleTip(c *change) error {
	c.fresh = nil
	for {
		best := e.best()
		if best == e.tree.Active().Tip() {
			return e.commit(c)
		}
		wanting, _, err := e.move(c, best)
		if err != nil {
			return err
		}
		if wanting == nil {
			return e.commit(c)
		}
		e.fail(c, wanting)
	}
}

// fail marks a block as one that breaks a rule.
func (e *Engine) fail(c *change, b *chainview.Block) {
	e.mark(c, b, b.Status()|chainview.Failed)
	e.spread(c)
}

// spread carries invalidity to the blocks that build on invalid ones, and takes it
// back where its cause is gone.
func (e *Engine) spread(c *change) {
	active := e.tree.Active()
	done := map[*chainview.Block]bool{}
	for _, tip := range append(e.tree.Tips(), active.Tip()) {
		var branch []*chainview.Block // last first
		for b := tip; b.Parent != nil && !done[b]; b = b.Parent {
			branch = append(branch, b)
		}
		for i := len(branch) - 1; i >= 0; i-- {
			b := branch[i]
			status := b.Status() &^ chainview.FailedAncestor
			if b.Parent.Status().Invalid() {
				status |= chainview.FailedAncestor
			}
			e.mark(c, b, status)
			done[b] = true
		}
	}
}
