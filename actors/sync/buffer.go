package sync

import (
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
)

const (
	// maxPendingBytes is how many bytes of blocks may wait for the chain or for their
	// parents. If more wait, only the block that all wait for is asked for.
	maxPendingBytes = 96 << 20

	// maxReadyBytes is the same for the blocks that wait for nothing but the chain: where
	// that is slower than the peers, more of them would only take memory.
	maxReadyBytes = 32 << 20

	// storeUnlinkedFrom is how many bytes wait before those that lack their parents go to
	// the disk.
	storeUnlinkedFrom = 48 << 20

	// maxSubmitted and maxSubmittedBytes are how many blocks the chain has at a time, and how
	// many bytes of more than one.
	maxSubmitted      = 64
	maxSubmittedBytes = 8 << 20
)

// A pendingBlock is a block that the chain has not taken yet.
type pendingBlock struct {
	block         *chainview.Block
	raw           []byte
	peer          int64 // that gave it
	compact       bool  // made of a compact block
	storeUnlinked bool  // the chain is to store it, be its parent there or not
	ticks         int   // that it has waited for a parent of which nobody was asked
	ready         bool  // its parent was there, or went before

	handled func() // lets its peer be read on; nil: it is
}

// resumePeer lets the peer be read on that waits for the block's fate.
func (h *pendingBlock) resumePeer() {
	if h.handled != nil {
		h.handled()
		h.handled = nil
	}
}

// after adds a function to be called when the block's fate is known, behind the
// functions added before.
func (h *pendingBlock) after(then func()) {
	before := h.handled
	h.handled = func() {
		if before != nil {
			before()
		}
		then()
	}
}

// A reorderBuffer keeps the blocks that the chain has not taken yet.
type reorderBuffer struct {
	blocks    map[chainhash.Hash]*pendingBlock   // all
	children  map[chainhash.Hash][]*pendingBlock // those that wait for their parents, by these
	ready     []*pendingBlock                    // those whose parents were there or went before, in order
	submitted []*pendingBlock                    // those that the chain is looking at
	bytes     int                                // of all blocks
	waiting   int                                // of those that are ready or submitted
}

func newReorderBuffer() reorderBuffer {
	return reorderBuffer{
		blocks: make(map[chainhash.Hash]*pendingBlock), children: make(map[chainhash.Hash][]*pendingBlock),
	}
}

// clear forgets all blocks but those that the chain is looking at.
func (s *reorderBuffer) clear() {
	for _, h := range s.blocks {
		h.resumePeer()
	}
	*s = newReorderBuffer()
}

// has reports whether a block is kept.
func (s *reorderBuffer) has(hash *chainhash.Hash) bool { return s.blocks[*hash] != nil }

// put keeps a block. If its parent is there or on its way, the block becomes
// ready, and so do the blocks that waited for this block. If too much waits, the
// chain stores the block before its parent.
func (s *reorderBuffer) put(h *pendingBlock, haveParent bool) {
	s.blocks[h.block.Hash] = h
	s.bytes += len(h.raw)
	parent := h.block.Parent.Hash
	if !haveParent && !s.isOnItsWay(&parent) && !h.storeUnlinked && s.bytes <= storeUnlinkedFrom {
		s.children[parent] = append(s.children[parent], h)
		return
	}
	s.enqueue(h)
	s.adopt(h)
}

func (s *reorderBuffer) enqueue(h *pendingBlock) {
	h.ready = true
	s.ready = append(s.ready, h)
	s.waiting += len(h.raw)
}

// isFull reports whether so much waits that no more is asked for than the block that all
// wait for.
func (s *reorderBuffer) isFull() bool { return s.bytes > maxPendingBytes || s.waiting > maxReadyBytes }

// adopt makes ready the blocks that waited for a ready block.
func (s *reorderBuffer) adopt(h *pendingBlock) {
	for next := []*pendingBlock{h}; len(next) > 0; next = next[1:] {
		hash := next[0].block.Hash
		for _, child := range s.children[hash] {
			s.enqueue(child)
			next = append(next, child)
		}
		delete(s.children, hash)
	}
}

// storeUnlinkedAfter is for how many ticks a block waits for a parent that nobody is asked for:
// two seconds.
const storeUnlinkedAfter = 4

// storeLost has blocks stored whose parents nobody is asked for, for a while: those of a
// peer that has recent blocks only.
func (s *reorderBuffer) storeLost(isAsked func(*chainhash.Hash) bool) (some bool) {
	var lost []*pendingBlock
	for parent, children := range s.children {
		for _, h := range children {
			if h.ticks++; isAsked(&parent) || s.has(&parent) {
				h.ticks = 0
			}
			if h.ticks >= storeUnlinkedAfter {
				lost = append(lost, h)
			}
		}
	}
	for _, h := range lost {
		parent := h.block.Parent.Hash
		s.children[parent] = slices.DeleteFunc(s.children[parent], func(o *pendingBlock) bool { return o == h })
		if len(s.children[parent]) == 0 {
			delete(s.children, parent)
		}
		s.enqueue(h)
		s.adopt(h)
	}
	return len(lost) > 0
}

func (s *reorderBuffer) isOnItsWay(hash *chainhash.Hash) bool {
	h := s.blocks[*hash]
	return h != nil && h.ready
}

// next returns the next blocks for the chain, none while it has some.
func (s *reorderBuffer) next() []*pendingBlock {
	if len(s.submitted) > 0 {
		return nil
	}
	bytes := 0
	for len(s.ready) > 0 && len(s.submitted) < maxSubmitted {
		h := s.ready[0]
		if bytes += len(h.raw); bytes > maxSubmittedBytes && len(s.submitted) > 0 {
			break
		}
		s.ready = s.ready[1:]
		s.submitted = append(s.submitted, h)
	}
	return s.submitted
}

// after calls a function when the fate of all blocks is known that a peer gave and
// that are on their way. It reports whether there are any.
func (s *reorderBuffer) after(peer int64, then func()) bool {
	for _, line := range [][]*pendingBlock{s.ready, s.submitted} {
		for _, h := range slices.Backward(line) {
			if h.peer == peer {
				h.after(then)
				return true
			}
		}
	}
	return false
}

// done forgets the blocks that the chain has taken, or refused.
func (s *reorderBuffer) done() {
	for _, h := range s.submitted {
		s.forget(h)
	}
	s.submitted = nil
}

func (s *reorderBuffer) forget(h *pendingBlock) {
	if s.blocks[h.block.Hash] == h {
		delete(s.blocks, h.block.Hash)
		s.bytes -= len(h.raw)
		if h.ready {
			s.waiting -= len(h.raw)
		}
	}
}

// refused forgets what builds on a refused block: it is asked for again if the
// block comes in another form.
func (s *reorderBuffer) refused(h *pendingBlock) {
	lost := []*pendingBlock{h}
	for len(lost) > 0 {
		last := lost[len(lost)-1]
		lost = lost[:len(lost)-1]
		for _, child := range s.children[last.block.Hash] {
			s.forget(child)
			child.resumePeer()
			lost = append(lost, child)
		}
		delete(s.children, last.block.Hash)
		s.ready = slices.DeleteFunc(s.ready, func(o *pendingBlock) bool {
			if !o.block.Parent.Is(last.block) {
				return false
			}
			s.forget(o)
			o.resumePeer()
			lost = append(lost, o)
			return true
		})
	}
}
