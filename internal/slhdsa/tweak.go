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

// message returns what the block holds before its padding.
func (b *block) message() []byte {
	bits := binary.BigEndian.Uint16(b[len(b)-2:])
	return b[:int(bits)/8-sha256.BlockSize]
}

// lanes is how many blocks are hashed side by side: as many as a key pair has
// chains. It is even, for blocks are hashed in pairs.
const lanes = chains

// A batch holds blocks to hash, and their sums.
type batch struct {
	blocks [lanes]block
	sums   [lanes]node
}

// A tweak is the tweakable hash of one key: SHA-256 of the key's public seed,
// filled up with zeros to a block, an address and a message, cut to a node. The
// state after the first block is kept, which halves the work.
//
// It belongs to one goroutine, and holds secrets until it is cleared.
type tweak struct {
	digest hash.Hash
	saved  []byte     // digest after the first block, as it marshals itself
	start  *[8]uint32 // the same for sumPairs; nil where that is of no use
	full   [sha256.Size]byte
	batch
}

func newTweak(seed *node) *tweak {
	t := &tweak{digest: sha256.New()}
	var first block
	copy(first[:], seed[:])
	t.digest.Write(first[:]) // never fails
	t.saved = stateOf(t.digest)
	t.start = registers(t.saved)
	return t
}

// stateOf marshals a digest of crypto/sha256, which never fails.
func stateOf(digest hash.Hash) []byte {
	state, _ := digest.(encoding.BinaryAppender).AppendBinary(nil)
	return state
}

// clear wipes what was hashed.
func (t *tweak) clear() {
	t.batch, t.full = batch{}, [sha256.Size]byte{}
	t.restore() // overwrites the digest's buffer too
}

// registers returns the state in a marshalled SHA-256 digest in the order in
// which the SHA extensions hold it (F, E, B, A and H, G, D, C). It returns nil
// if the digest looks in a way that is not known.
func registers(marshalled []byte) *[8]uint32 {
	const magic = "sha\x03"
	if len(marshalled) < len(magic)+sha256.Size || string(marshalled[:len(magic)]) != magic {
		return nil
	}
	var start [8]uint32
	for i, word := range [8]int{5, 4, 1, 0, 7, 6, 3, 2} {
		start[i] = binary.BigEndian.Uint32(marshalled[len(magic)+4*word:])
	}
	return &start
}

// sumBatch hashes the first n blocks of the batch.
func (t *tweak) sumBatch(n int) {
	even := n + n%2
	if sumPairs(t.sums[:even], t.start, t.blocks[:even]) {
		return
	}
	for i := range n {
		t.sums[i] = t.sum(t.blocks[i].message())
	}
}

// sum hashes an address with a message of any length, given in parts.
func (t *tweak) sum(parts ...[]byte) (out node) {
	t.restore()
	for _, part := range parts {
		t.digest.Write(part) // never fails
	}
	copy(out[:], t.digest.Sum(t.full[:0]))
	return out
}

// restore sets the digest to the state after the first block.
func (t *tweak) restore() {
	// A digest understands what it wrote itself.
	_ = t.digest.(encoding.BinaryUnmarshaler).UnmarshalBinary(t.saved)
}
