package sync

import (
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
)

const (
	// holdAtMost is how many bytes of blocks wait for the chain or for their
	// parents before no more are asked for than the one that all wait for.
	holdAtMost = 96 << 20

	// parkFrom is how many bytes wait before those that lack their parents go to
	// the disk.
	parkFrom = 48 << 20

	// feedAtMost and feedBytes are how many blocks the chain has at a time, and how
	// many bytes of more than one.
	feedAtMost = 16
	feedBytes  = 2 << 20
)

// A held block is one that the chain has not taken yet.
type held struct {
	block   *chainview.Block
	raw     []byte
	peer    int64 // that gave it
	compact bool  // made of a compact block
	park    bool  // the chain is to store it, be its parent there or not
	ticks   int   // that it has waited for a parent of which nobody was asked
	ready   bool  // its parent was there, or went before

	handled func() // lets its peer be read on; nil: it is
}

// release lets the peer be read on that waits for the block's fate.
func (h *held) release() {
	if h.handled != nil {
		h.handled()
		h.handled = nil
	}
}

// after calls a function when the block's fate is known, and what waits for it.
func (h *held) after(then func()) {
	before := h.handled
	h.handled = func() {
		if before != nil {
			before()
		}
		then()
	}
}

// A store keeps the blocks that the chain has not taken yet.
type store struct {
	blocks   map[chainhash.Hash]*held   // all
	children map[chainhash.Hash][]*held // those that wait for their parents, by these
	ready    []*held                    // those whose parents were there or went before, in order
	fed      []*held                    // those that the chain is looking at
	bytes    int
}

func newStore() store {
	return store{
		blocks: make(map[chainhash.Hash]*held), children: make(map[chainhash.Hash][]*held),
	}
}

// clear forgets all blocks but those that the chain is looking at.
func (s *store) clear() {
	for _, h := range s.blocks {
		h.release()
	}
	*s = newStore()
}

// has reports whether a block is kept.
func (s *store) has(hash *chainhash.Hash) bool { return s.blocks[*hash] != nil }

// put keeps a block. Where its parent is there or on its way, it becomes ready,
// and so does what waited for it. Where too much waits, the chain stores it before
// its parent.
func (s *store) put(h *held, haveParent bool) {
	s.blocks[h.block.Hash] = h
	s.bytes += len(h.raw)
	parent := h.block.Parent.Hash
	if !haveParent && !s.isOnItsWay(&parent) && !h.park && s.bytes <= parkFrom {
		s.children[parent] = append(s.children[parent], h)
		return
	}
	s.enqueue(h)
	s.adopt(h)
}

func (s *store) enqueue(h *held) {
	h.ready = true
	s.ready = append(s.ready, h)
}

// adopt makes ready what waited for a block that is.
func (s *store) adopt(h *held) {
	for next := []*held{h}; len(next) > 0; next = next[1:] {
		hash := next[0].block.Hash
		for _, child := range s.children[hash] {
			s.enqueue(child)
			next = append(next, child)
		}
		delete(s.children, hash)
	}
}

// parkAfter is for how many ticks a block waits for a parent that nobody is asked for:
// two seconds.
const parkAfter = 4

// parkLost has blocks stored whose parents nobody is asked for, for a while: those of a
// peer that has recent blocks only.
func (s *store) parkLost(isAsked func(*chainhash.Hash) bool) (some bool) {
	var lost []*held
	for parent, children := range s.children {
		for _, h := range children {
			if h.ticks++; isAsked(&parent) || s.has(&parent) {
				h.ticks = 0
			}
			if h.ticks >= parkAfter {
				lost = append(lost, h)
			}
		}
	}
	for _, h := range lost {
		parent := h.block.Parent.Hash
		s.children[parent] = slices.DeleteFunc(s.children[parent], func(o *held) bool { return o == h })
		if len(s.children[parent]) == 0 {
			delete(s.children, parent)
		}
		s.enqueue(h)
		s.adopt(h)
	}
	return len(lost) > 0
}

func (s *store) isOnItsWay(hash *chainhash.Hash) bool {
	h := s.blocks[*hash]
	return h != nil && h.ready
}

// next returns the next blocks for the chain, none while it has some.
func (s *store) next() []*held {
	if len(s.fed) > 0 {
		return nil
	}
	bytes := 0
	for len(s.ready) > 0 && len(s.fed) < feedAtMost {
		h := s.ready[0]
		if bytes += len(h.raw); bytes > feedBytes && len(s.fed) > 0 {
			break
		}
		s.ready = s.ready[1:]
		s.fed = append(s.fed, h)
	}
	return s.fed
}

// after calls a function when the fate of all blocks is known that a peer gave and
// that are on their way. It reports whether there are any.
func (s *store) after(peer int64, then func()) bool {
	for _, line := range [][]*held{s.ready, s.fed} {
		for _, h := range slices.Backward(line) {
			if h.peer == peer {
				h.after(then)
				return true
			}
		}
	}
	return false
}

// took forgets the blocks that the chain has taken, or refused.
func (s *store) took() {
	for _, h := range s.fed {
		s.forget(h)
	}
	s.fed = nil
}

func (s *store) forget(h *held) {
	if s.blocks[h.block.Hash] == h {
		delete(s.blocks, h.block.Hash)
		s.bytes -= len(h.raw)
	}
}

// refused forgets what builds on a refused block: it is asked for again if the
// block comes in another form.
func (s *store) refused(h *held) {
	lost := []*held{h}
	for len(lost) > 0 {
		last := lost[len(lost)-1]
		lost = lost[:len(lost)-1]
		for _, child := range s.children[last.block.Hash] {
			s.forget(child)
			child.release()
			lost = append(lost, child)
		}
		delete(s.children, last.block.Hash)
		s.ready = slices.DeleteFunc(s.ready, func(o *held) bool {
			if o.block.Parent != last.block {
				return false
			}
			s.forget(o)
			o.release()
			lost = append(lost, o)
			return true
		})
	}
}
