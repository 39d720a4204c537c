package slhdsa

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"hash"
)

// A block is the last block of a hash that is padded already: address, one or
// two nodes, and SHA-256's padding for a message with one block before it.
type block [sha256.BlockSize]byte

// set makes the block that hashes one node.
func (b *block) set(a address, m *node) {
	*b = block{}
	copy(b[:], a[:])
	copy(b[addressSize:], m[:])
	b.pad(addressSize + nodeSize)
}

// setPair makes the block that hashes two nodes.
func (b *block) setPair(a address, left, right *node) {
	*b = block{}
	copy(b[:], a[:])
	copy(b[addressSize:], left[:])
	copy(b[addressSize+nodeSize:], right[:])
	b.pad(addressSize + 2*nodeSize)
}

// advance makes the block hash the next step of a chain: m instead.
func (b *block) advance(step int, m *node) {
	b[stepAt] = byte(step)
	copy(b[addressSize:addressSize+nodeSize], m[:])
}

func (b *block) pad(size int) {
	b[size] = 0x80
	binary.BigEndian.PutUint16(b[len(b)-2:], uint16(8*(sha256.BlockSize+size)))
}

// A batch holds blocks to hash, and their sums. It has no pointers, so that Go
// aligns it to the lines of caches, and vectors in it cross none.
type batch struct {
	blocks  [lanes]block
	sums    [lanes]node
	values  [chains]node // of the chains of a key pair
	scratch vectorScratch
}

// A tweak is the tweakable hash of one key: SHA-256 of the key's public seed,
// filled up with zeros to a block, an address and a message, cut to a node. The
// state after the first block is kept, which halves the work.
//
// It belongs to one goroutine, and holds secrets until it is cleared.
type tweak struct {
	by     hasher
	start  midstate // after the first block
	digest hash.Hash
	full   [sha256.Size]byte
	*batch
}

func newTweak(seed *node) *tweak { return kernels[0].newTweak(seed) }

func (k kernel) newTweak(seed *node) *tweak {
	var first block
	copy(first[:], seed[:])
	t := &tweak{digest: sha256.New(), start: newMidstate(first[:]...), batch: new(batch)}
	t.by = k.from(&t.start)
	return t
}

// clear wipes what was hashed.
func (t *tweak) clear() {
	*t.batch, t.full = batch{}, [sha256.Size]byte{}
	restore(t.digest, &t.start) // overwrites the digest's buffer too
}

// sumBatch hashes the first n blocks of the batch.
func (t *tweak) sumBatch(n int) { t.by.sums(t, &t.start, n) }

// sum hashes an address with a message of any length, given in parts.
func (t *tweak) sum(parts ...[]byte) (out node) {
	restore(t.digest, &t.start)
	for _, part := range parts {
		t.digest.Write(part) // never fails
	}
	copy(out[:], t.digest.Sum(t.full[:0]))
	return out
}

// restore sets a digest to a state.
func restore(digest hash.Hash, to *midstate) {
	// A digest understands what it wrote itself.
	_ = digest.(encoding.BinaryUnmarshaler).UnmarshalBinary(to.saved)
}
