package chainview

import (
	"iter"
	"math/big"
	"slices"
	"sync/atomic"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// medianTimeBlocks is how many blocks the median time past looks at (BIP113).
const medianTimeBlocks = 11

// A Block is one header's place in the block tree. All but its status and order is
// immutable, so that a Block may be kept and read from any goroutine. A node keeps one
// for each header for ever, a million of them: so it holds no byte twice.
type Block struct {
	Hash   chainhash.Hash
	Parent *Block // nil for the genesis block
	Height int32

	version     int32
	merkleRoot  chainhash.Hash
	time        uint32
	bits, nonce uint32
	status      atomic.Uint32
	txs         atomic.Uint32 // how many transactions it has; 0: not asked yet
	maxTime     uint32        // the highest time of the chain that ends here, by which times are found

	work    work
	skip    *Block  // an ancestor far back, so that Ancestor takes few hops
	payload *[]byte // nil for none

	// Order is when the block came, among those with the same work: the lower goes
	// before. It is 0 while the block or one before it is not stored. It is the
	// engine's alone.
	Order int64
}

// NewBlock returns a block that is in no tree, on top of parent, nil for a block that
// begins a chain. Its work is that of its parent and what it adds. The previous hash of
// the header is the parent's.
func NewBlock(parent *Block, header *wire.BlockHeader, adds *big.Int) *Block {
	return newBlock(parent, header, header.BlockHash(), adds)
}

func newBlock(parent *Block, header *wire.BlockHeader, hash chainhash.Hash, adds *big.Int) *Block {
	b := &Block{
		Hash: hash, version: header.Version, merkleRoot: header.MerkleRoot,
		time: uint32(header.Timestamp.Unix()), bits: header.Bits, nonce: header.Nonce,
		work: workOf(adds),
	}
	b.maxTime = b.time
	if parent != nil {
		b.Parent, b.Height = parent, parent.Height+1
		b.work = b.work.plus(&parent.work)
		b.skip = parent.Ancestor(skipHeight(b.Height))
		b.maxTime = max(b.time, parent.maxTime)
	}
	return b
}

// Header returns the header of 80 bytes.
func (b *Block) Header() wire.BlockHeader {
	h := wire.BlockHeader{
		Version: b.version, MerkleRoot: b.merkleRoot, Timestamp: time.Unix(int64(b.time), 0),
		Bits: b.bits, Nonce: b.nonce,
	}
	if b.Parent != nil {
		h.PrevBlock = b.Parent.Hash
	}
	return h
}

// Time returns the time that the header tells.
func (b *Block) Time() time.Time { return time.Unix(int64(b.time), 0) }

// MaxTime returns the highest time of the block and those before it, in seconds since 1970
// (nTimeMax of Core): it never falls along a chain.
func (b *Block) MaxTime() int64 { return int64(b.maxTime) }

// Version returns the version that the header tells.
func (b *Block) Version() int32 { return b.version }

// Bits returns the target that the header tells, in its compact form.
func (b *Block) Bits() uint32 { return b.bits }

// Payload is what follows the header wherever that is serialized: the proof of work of a
// merge-mined block. Nil on Bitcoin's chains; not to be written to.
func (b *Block) Payload() []byte {
	if b.payload == nil {
		return nil
	}
	return *b.payload
}

// Work returns the work of the chain that ends here.
func (b *Block) Work() *big.Int { return b.work.big() }

// CompareWork compares the work of the chains that end in two blocks: -1 if b has
// less, 0 if both have the same, +1 if b has more.
func (b *Block) CompareWork(other *Block) int { return b.work.compare(&other.work) }

// Status is what is known of a block beyond its header.
type Status uint32

// The flags of a Status.
const (
	HasData         Status = 1 << iota // the whole block is stored
	Valid                              // it was connected, so its scripts are right
	Failed                             // it breaks a rule, or was invalidated by hand
	FailedAncestor                     // it descends from a Failed one
	Pruned                             // it was stored, and was deleted since to save space; HasData stays
	NoUndo                             // it was stored again after that: its undo data is gone until it is connected
	Stripped                           // it was stored whole, and its witnesses were removed since: HasData stays
	invalidStatuses = Failed | FailedAncestor
)

// Invalid reports whether the block can never be part of the active chain.
func (s Status) Invalid() bool { return s&invalidStatuses != 0 }

// Status returns the block's present status.
func (b *Block) Status() Status { return Status(b.status.Load()) }

func (b *Block) setStatus(s Status) { b.status.Store(uint32(s)) }

// TxCount returns how many transactions a block has, pruned or not. It is read once for
// each block; a hash stands for one number for ever. Errors: as of [Reader].
func (b *Block) TxCount(r Reader) (int, error) {
	if n := b.txs.Load(); n > 0 {
		return int(n), nil
	}
	_, n, err := r.Size(&b.Hash)
	if err != nil {
		return 0, err
	}
	b.txs.Store(uint32(n))
	return n, nil
}

// Ancestor returns the block at height on the chain that ends in b: b itself
// at its own height, nil outside 0..b.Height. It takes O(log n) steps.
func (b *Block) Ancestor(height int32) *Block {
	if height < 0 || height > b.Height {
		return nil
	}
	for b.Height != height {
		if b.skip != nil && b.skip.Height >= height {
			b = b.skip
		} else {
			b = b.Parent
		}
	}
	return b
}

// MedianTimePast returns the median time of the last 11 blocks up to b, in
// seconds since 1970 (BIP113).
func (b *Block) MedianTimePast() int64 {
	times := make([]int64, 0, medianTimeBlocks)
	for at := b; at != nil && len(times) < medianTimeBlocks; at = at.Parent {
		times = append(times, int64(at.time))
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// Is reports whether b and other are the same block. They may be of two trees: a chain that is
// opened again has a tree of its own, and blocks of the one before may be held still. Nil is nil.
func (b *Block) Is(other *Block) bool {
	return b == other || b != nil && other != nil && b.Hash == other.Hash
}

// ForkHeight returns the height of the last block that the chains ending in b and other share,
// -1 where they share none. They may be of two trees. It takes O(log n) steps.
func (b *Block) ForkHeight(other *Block) int32 {
	if b.Height > other.Height {
		b = b.Ancestor(other.Height)
	} else {
		other = other.Ancestor(b.Height)
	}
	for !b.Is(other) {
		if b.skip != nil && !b.skip.Is(other.skip) {
			b, other = b.skip, other.skip // of one height, as b and other are
		} else {
			b, other = b.Parent, other.Parent
		}
	}
	if b == nil {
		return -1
	}
	return b.Height
}

// Above returns the blocks of the chain that ends in b which are above a height, highest first.
func (b *Block) Above(height int32) iter.Seq[*Block] {
	return func(yield func(*Block) bool) {
		for at := b; at != nil && at.Height > height; at = at.Parent {
			if !yield(at) {
				return
			}
		}
	}
}

// skipHeight returns the height that the skip link of a block leads to. Half
// the blocks jump far and half jump near, so that any ancestor is reached in
// O(log n) hops from anywhere. Clearing the lowest set bit jumps far where the
// height is round; odd heights jump from their neighbour's place.
func skipHeight(height int32) int32 {
	if height < 2 {
		return 0
	}
	if height&1 == 0 {
		return height & (height - 1)
	}
	below := (height - 1) & (height - 2)
	return below&(below-1) + 1
}
