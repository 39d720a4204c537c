// Package forkchoice tells which block of a tree should be the tip. It is the last
// block of the chain with the most work, among chains whose blocks are all stored
// and break no rule as far as is known. Among chains with the same work it is the
// chain whose last block came first.
//
// It knows no rules, no disk and no coins. A Choice has one user at a time, the
// engine that owns the tree.
package forkchoice

import (
	"bytes"
	"cmp"
	"maps"
	"math/big"
	"slices"

	"github.com/seed61375155/trawl/internal/chainview"
)

// A Tree is what a Choice works on.
type Tree interface {
	Tips() []*chainview.Block
}

// A Choice remembers when blocks came.
type Choice struct {
	tree Tree

	// mark changes the status of a block, in the tree and on disk.
	mark func(*chainview.Block, chainview.Status)

	unlinked map[*chainview.Block][]*chainview.Block // stored blocks that lack a block before them, by their parent
	header   *chainview.Block                        // of the most work that may be valid
	invalid  *chainview.Block                        // of the most work that broke a rule, or builds on such a block
	base     *chainview.Block                        // below which the tip cannot go; nil: none
	withheld func(*chainview.Block) bool             // whether a block cannot be connected now; nil: all can

	next     int64    // order of the block that comes next
	precious int64    // order of the block that is preferred next
	preferAt *big.Int // work of the tip when one was preferred last
}

// Orders of blocks. Blocks of a loaded tree go before later blocks: activeOrder
// is for the active chain, loadedOrder for the others. The first block that is
// preferred gets preciousOrder.
const (
	activeOrder   = 1
	loadedOrder   = 2
	preciousOrder = -1
)

// New returns a choice over a tree, whose only linked block is root.
func New(tree Tree, root *chainview.Block, mark func(*chainview.Block, chainview.Status)) *Choice {
	root.Order = activeOrder
	return &Choice{
		tree: tree, mark: mark, unlinked: map[*chainview.Block][]*chainview.Block{}, header: root,
		next: loadedOrder + 1, precious: preciousOrder, preferAt: new(big.Int),
	}
}

// Load takes over a block that was stored before, after its parent. It reports
// whether the block and all before it are there.
func (c *Choice) Load(b *chainview.Block) (linked bool) {
	s := b.Status()
	if !s.Invalid() && b.Parent.Status().Invalid() {
		c.mark(b, s|chainview.FailedAncestor)
	}
	if b.Status().Invalid() {
		c.noteInvalid(b)
	}
	c.AddHeader(b)
	switch {
	case s&chainview.HasData == 0:
		return false
	case !Linked(b.Parent):
		c.addUnlinked(b)
		return false
	}
	b.Order = loadedOrder
	return true
}

// Loaded takes over the active chain after all blocks: it goes before what has as
// much work.
func (c *Choice) Loaded(tip *chainview.Block) {
	for b := tip; b != nil; b = b.Parent {
		if b.Order = activeOrder; b == c.base {
			return
		}
	}
}

// Assume has a block and all before it count as stored, and with them the stored blocks that
// build on the block. The active chain begins there, and does not go back behind the block.
// Nil ends the assumption.
func (c *Choice) Assume(base *chainview.Block) {
	if c.base = base; base != nil && !Linked(base) {
		c.linkChildren(base)
	}
}

// Withhold keeps the tip from blocks, and from those behind them, that could be connected but for something that
// they lack at present.
func (c *Choice) Withhold(lacks func(*chainview.Block) bool) { c.withheld = lacks }

// Linked reports whether a block and all before it are stored, or were.
func Linked(b *chainview.Block) bool { return b.Order != 0 }

// AddHeader takes a new header.
func (c *Choice) AddHeader(b *chainview.Block) {
	if !b.Status().Invalid() && b.CompareWork(c.header) > 0 {
		c.header = b
	}
}

// Invalid returns the block with the most work of those that were found to be invalid, nil: none was. Of blocks that a
// user has invalidated it knows the lowest alone, until they are loaded again.
func (c *Choice) Invalid() *chainview.Block { return c.invalid }

func (c *Choice) noteInvalid(b *chainview.Block) {
	if c.invalid == nil || b.CompareWork(c.invalid) > 0 {
		c.invalid = b
	}
}

// Header returns the header with the most work that is not known to be invalid.
func (c *Choice) Header() *chainview.Block { return c.header }

// Received takes a block that has been stored, and returns those whose chains have
// become whole by it, in the order in which they count as received.
func (c *Choice) Received(b *chainview.Block) (linked []*chainview.Block) {
	if !Linked(b.Parent) {
		c.addUnlinked(b)
		return nil
	}
	return c.linkChildren(b)
}

// linkChildren links a block whose parent is linked, and the blocks that waited for
// the block.
func (c *Choice) linkChildren(b *chainview.Block) (linked []*chainview.Block) {
	linked = []*chainview.Block{b}
	for i := 0; i < len(linked); i++ {
		linked[i].Order = c.next
		c.next++
		linked = append(linked, c.unlinked[linked[i]]...)
		delete(c.unlinked, linked[i])
	}
	return linked
}

// Restored takes a block that was pruned and is stored again: it counts as received now,
// and so does what builds on it, unless it is a part of the active chain. It returns the
// block that should be the tip in place of tip.
func (c *Choice) Restored(b, tip *chainview.Block) (best *chainview.Block) {
	if !Linked(b) || tip.Ancestor(b.Height) == b {
		return tip // it still waits for one before it, or nothing is new
	}
	again := map[*chainview.Block]bool{b: true}
	c.descendants(b, func(at *chainview.Block) {
		if Linked(at) {
			again[at] = true
		}
	})
	inOrder := slices.SortedFunc(maps.Keys(again), func(a, b *chainview.Block) int {
		if a.Height != b.Height {
			return cmp.Compare(a.Height, b.Height)
		}
		return cmp.Compare(a.Order, b.Order)
	})
	for _, at := range inOrder {
		at.Order = c.next
		c.next++
	}
	return c.Best(tip)
}

// addUnlinked notes a stored block that lacks one before it.
func (c *Choice) addUnlinked(b *chainview.Block) {
	c.unlinked[b.Parent] = append(c.unlinked[b.Parent], b)
}

// before reports whether a goes before b.
func before(a, b *chainview.Block) bool {
	if more := a.CompareWork(b); more != 0 {
		return more > 0
	}
	if a.Order != b.Order {
		return a.Order < b.Order
	}
	return bytes.Compare(a.Hash[:], b.Hash[:]) < 0 // loaded both: any, but always the same
}

// Better returns the best of blocks that have just been linked, or tip where none is
// better.
func (c *Choice) Better(tip *chainview.Block, linked []*chainview.Block) *chainview.Block {
	best := tip
	for _, b := range linked {
		if before(b, best) && c.usable(tip, b) == b {
			best = b
		}
	}
	return best
}

// Best looks through the whole tree for the block that should be the tip in place of
// tip.
func (c *Choice) Best(tip *chainview.Block) *chainview.Block {
	best := tip
	for best.Status().Invalid() {
		best = best.Parent
	}
	for _, leaf := range c.tree.Tips() {
		if leaf.CompareWork(best) < 0 {
			continue
		}
		if b := c.usable(tip, leaf); b != nil && before(b, best) {
			best = b
		}
	}
	return best
}

// usable returns the last block on the way from tip to leaf that all blocks are there
// for; nil where the way back from tip is gone.
func (c *Choice) usable(tip, leaf *chainview.Block) *chainview.Block {
	last := leaf
	for b := range leaf.Above(tip.ForkHeight(leaf)) {
		s := b.Status()
		if s.Invalid() || s&chainview.HasData == 0 || s&chainview.Pruned != 0 || c.withheld != nil && c.withheld(b) {
			last = b.Parent
		}
	}
	for last.Status().Invalid() {
		last = last.Parent // of the chain of tip, which is about to be left
	}
	if !c.CanReturn(tip, Fork(tip, last)) {
		return nil
	}
	return last
}

// Fork returns the last block that the chains ending in two blocks of one tree share.
func Fork(a, b *chainview.Block) *chainview.Block { return a.Ancestor(a.ForkHeight(b)) }

// CanReturn reports whether all blocks after from up to tip can be taken back.
func (c *Choice) CanReturn(tip, from *chainview.Block) bool {
	for b := tip; b != from; b = b.Parent {
		if b.Status()&(chainview.Pruned|chainview.NoUndo) != 0 || b == c.base {
			return false
		}
	}
	return true
}

// descendants visits the blocks that build on b, some more than once.
func (c *Choice) descendants(b *chainview.Block, visit func(*chainview.Block)) {
	for _, leaf := range c.tree.Tips() {
		if leaf.Ancestor(b.Height) != b {
			continue
		}
		for at := leaf; at != b; at = at.Parent {
			visit(at)
		}
	}
}

// Fail marks a block that breaks a rule, and all that build on it.
func (c *Choice) Fail(b, tip *chainview.Block) {
	c.mark(b, b.Status()|chainview.Failed)
	c.noteInvalid(b)
	c.descendants(b, func(at *chainview.Block) {
		if Linked(at) {
			c.noteInvalid(at)
		}
	})
	c.propagateFailed(b, tip)
}

// Invalidate marks a block as not to be used, and all blocks that build on it. The
// mark of a block that is known to build on an invalid block does not change.
func (c *Choice) Invalidate(b, tip *chainview.Block) {
	if !b.Status().Invalid() {
		c.mark(b, b.Status()|chainview.Failed)
	}
	c.noteInvalid(b)
	c.propagateFailed(b, tip)
}

func (c *Choice) propagateFailed(b, tip *chainview.Block) {
	c.descendants(b, func(at *chainview.Block) {
		c.mark(at, at.Status()&^chainview.Failed|chainview.FailedAncestor)
	})
	if c.header.Ancestor(b.Height) == b {
		c.findHeader(tip)
	}
}

// Reconsider takes back that a block, its ancestors and its descendants are invalid.
func (c *Choice) Reconsider(b, tip *chainview.Block) {
	const invalid = chainview.Failed | chainview.FailedAncestor
	for at := b; at != nil; at = at.Parent {
		c.mark(at, at.Status()&^invalid)
	}
	c.descendants(b, func(at *chainview.Block) { c.mark(at, at.Status()&^invalid) })
	if c.invalid != nil && !c.invalid.Status().Invalid() {
		c.invalid = nil // as in Core, which looks for no other
	}
	c.findHeader(tip)
}

func (c *Choice) findHeader(tip *chainview.Block) {
	c.header = tip
	for c.header.Status().Invalid() {
		c.header = c.header.Parent
	}
	for _, leaf := range c.tree.Tips() {
		for leaf.Status().Invalid() {
			leaf = leaf.Parent
		}
		if leaf.CompareWork(c.header) > 0 {
			c.header = leaf
		}
	}
}

// Prefer has a block count as if it had come before all others, where it has as much
// work as the tip. It reports whether the tip is to be chosen anew.
func (c *Choice) Prefer(b, tip *chainview.Block) bool {
	if b.CompareWork(tip) < 0 {
		return false
	}
	if tip.Work().Cmp(c.preferAt) > 0 {
		c.precious = preciousOrder // the chain has grown since
	}
	c.preferAt = tip.Work()
	if Linked(b) {
		b.Order = c.precious
	}
	c.precious--
	return true
}
