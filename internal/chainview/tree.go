package chainview

import (
	"errors"
	"fmt"
	"math/big"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// ErrOrphan reports a header whose parent is not in the tree.
var ErrOrphan = errors.New("chainview: parent is unknown")

// A Tree holds every known header, those of stale branches included, and which
// of them form the active chain. It has one writer, the engine that validates
// blocks, and any number of readers.
type Tree struct {
	active  atomic.Pointer[Chain]
	assumed atomic.Pointer[Assumed]
	wanted  atomic.Pointer[Block] // whose witnesses must come again

	mu     sync.RWMutex
	blocks *hashIndex
	tips   map[*Block]struct{} // blocks without children
}

// NewTree returns a tree that holds the genesis block alone, as active chain.
func NewTree(genesis *wire.BlockHeader, work *big.Int) *Tree {
	b := NewBlock(nil, genesis, work)
	b.setStatus(HasData | Valid)
	t := &Tree{blocks: newHashIndex(), tips: map[*Block]struct{}{b: {}}}
	t.blocks.add(b)
	t.active.Store(&Chain{blocks: []*Block{b}})
	return t
}

// Add puts a header into the tree and returns its block, or returns the block
// that the tree already has for the header. The header adds work to the work of
// its parent's chain.
func (t *Tree) Add(header *wire.BlockHeader, work *big.Int, status Status) (*Block, error) {
	return t.AddWithPayload(header, nil, work, status)
}

// AddWithPayload is Add for a header with something after it.
func (t *Tree) AddWithPayload(header *wire.BlockHeader, payload []byte, work *big.Int, status Status) (*Block, error) {
	hash := header.BlockHash()
	t.mu.Lock()
	defer t.mu.Unlock()
	if b := t.blocks.find(&hash); b != nil {
		return b, nil
	}
	parent := t.blocks.find(&header.PrevBlock)
	if parent == nil {
		return nil, fmt.Errorf("%w: %v", ErrOrphan, header.PrevBlock)
	}
	b := newBlock(parent, header, hash, work)
	if payload != nil {
		b.payload = &payload
	}
	b.setStatus(status)
	t.blocks.add(b)
	delete(t.tips, parent)
	t.tips[b] = struct{}{}
	return b, nil
}

// NewChild returns a block on parent that is in no tree, for a block that is to be
// tried. It has no hash and no work of its own.
func NewChild(parent *Block, header *wire.BlockHeader) *Block {
	return newBlock(parent, header, chainhash.Hash{}, new(big.Int))
}

// SetStatus changes what is known of a block.
func (*Tree) SetStatus(b *Block, s Status) { b.setStatus(s) }

// SetActive makes the chain that ends in tip the active one. Chains that were
// handed out before stay as they were.
func (t *Tree) SetActive(tip *Block) {
	old := t.active.Load()
	fork := old.ForkHeight(tip)
	keep := old.blocks[:fork+1]
	added := int(tip.Height - fork)
	if fork != old.Height() {
		// Readers of the old chain share the array: what comes after the
		// fork must not be written over.
		keep = append(make([]*Block, 0, len(keep)+added+added/4+16), keep...)
	}
	blocks := append(keep, make([]*Block, added)...)
	for b := range tip.Above(fork) {
		blocks[b.Height] = b
	}
	t.active.Store(&Chain{blocks: blocks})
}

// Active returns the active chain as it is now.
func (t *Tree) Active() *Chain { return t.active.Load() }

// Lookup returns the block with that hash, nil when it is unknown.
func (t *Tree) Lookup(hash *chainhash.Hash) *Block {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.blocks.find(hash)
}

// Tips returns the blocks that nothing builds on, in no order.
func (t *Tree) Tips() []*Block {
	t.mu.RLock()
	defer t.mu.RUnlock()
	tips := make([]*Block, 0, len(t.tips))
	for b := range t.tips {
		tips = append(tips, b)
	}
	return tips
}

// A Chain is the active chain as it was at one moment. It is immutable.
type Chain struct{ blocks []*Block }

// Tip returns the last block.
func (c *Chain) Tip() *Block { return c.blocks[len(c.blocks)-1] }

// Height returns the height of the last block.
func (c *Chain) Height() int32 { return int32(len(c.blocks)) - 1 }

// At returns the block at height, nil outside 0..Height.
func (c *Chain) At(height int32) *Block {
	if height < 0 || int(height) >= len(c.blocks) {
		return nil
	}
	return c.blocks[height]
}

// Contains reports whether a block, which may be of another tree, is part of the chain.
func (c *Chain) Contains(b *Block) bool { return c.At(b.Height).Is(b) }

// ForkHeight returns the height of the last block that the chain shares with the chain that
// ends in b, as [Block.ForkHeight] does.
func (c *Chain) ForkHeight(b *Block) int32 { return c.Tip().ForkHeight(b) }

// First returns the lowest height from which on holds is true of all blocks, one more
// than the last height if of none. If holds is true of a block, it must be true of all
// blocks above.
func (c *Chain) First(holds func(*Block) bool) int32 {
	return int32(sort.Search(len(c.blocks), func(h int) bool { return holds(c.blocks[h]) }))
}

// Next returns the block after b, nil at the tip and outside the chain.
func (c *Chain) Next(b *Block) *Block {
	if !c.Contains(b) {
		return nil
	}
	return c.At(b.Height + 1)
}
