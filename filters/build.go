package filters

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// opReturn is the first byte of a script that no filter holds, so that a later
// commitment to the filter can be put into such an output (BIP158).
const opReturn = 0x6a

// Builder builds filters. It holds scratch memory that grows with the largest
// filter built; each filter itself is its only other allocation. The zero
// Builder is ready for use; it is not safe for concurrent use.
type Builder struct {
	slots    []slot
	elements [][]byte
	code     bitWriter
}

// slot is a place in the sorted table of hashes.
type slot struct {
	hash    uint64
	element int // index of the element, plus 1; 0 is an empty slot
}

// BuildBlock builds the basic filter of a serialized block: of the scripts of
// its outputs, without empty ones and those that begin with OP_RETURN, and of
// spent, the scripts of the outputs that its inputs spend, without empty ones
// (BIP158). Scripts may repeat, in any order.
//
// The block is as for [EachOutputScript]; blockHash, which is trusted, keys the
// filter. The error wraps [ErrBadBlock].
func (b *Builder) BuildBlock(blockHash *chainhash.Hash, rawBlock []byte, headerLen int, spent [][]byte) ([]byte, error) {
	defer func() { // keep no reference to the block
		clear(b.elements)
		b.elements = b.elements[:0]
	}()
	err := EachOutputScript(rawBlock, headerLen, func(script []byte) bool {
		if len(script) > 0 && script[0] != opReturn {
			b.elements = append(b.elements, script)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	for _, script := range spent {
		if len(script) > 0 {
			b.elements = append(b.elements, script)
		}
	}
	return b.Build(blockHash, b.elements), nil
}

// Build builds the filter of a set of elements, given in any order, some
// perhaps more than once, and fewer than 2^32. It returns the serialized
// filter, which is the caller's.
func (b *Builder) Build(blockHash *chainhash.Hash, elements [][]byte) []byte {
	n := b.sort(keyOf(blockHash), elements)
	b.code.reset(appendCompactSize(b.code.out[:0], uint32(n)))
	b.encode(n)
	return bytes.Clone(b.code.finish())
}

// sort puts the hashes of the elements into the table of slots, in ascending
// order with empty slots between, and returns how many different elements
// there are.
//
// Hashes are spread evenly, so the top bits say nearly where each belongs.
// Elements are compared as bytes: two with the same hash are still two.
func (b *Builder) sort(key sipKey, elements [][]byte) int {
	width := bits.Len(uint(len(elements))) // half of the slots stay empty, or more
	// In the worst case all hashes belong into the last slot.
	size := 1<<width + len(elements)
	b.slots = slices.Grow(b.slots[:0], size)[:size]
	clear(b.slots)
	n := 0
	for i, element := range elements {
		hash := sipHash(key, element)
		at := int(hash >> (64 - width))
		for b.slots[at].element != 0 && b.slots[at].hash < hash {
			at++
		}
		if b.insert(at, slot{hash, i + 1}, elements) {
			n++
		}
	}
	return n
}

// insert puts s before the first slot with a greater hash, from slot at on,
// unless its element is there already. It moves the slots after it up to the
// next empty one.
func (b *Builder) insert(at int, s slot, elements [][]byte) bool {
	for ; b.slots[at].element != 0 && b.slots[at].hash == s.hash; at++ {
		if bytes.Equal(elements[b.slots[at].element-1], elements[s.element-1]) {
			return false
		}
	}
	for ; s.element != 0; at++ {
		b.slots[at], s = s, b.slots[at]
	}
	return true
}

// encode writes the n hashes of the table, reduced, as a Golomb-coded set.
func (b *Builder) encode(n int) {
	limit := uint64(n) * M
	var last uint64
	for i := range b.slots {
		if b.slots[i].element == 0 {
			continue
		}
		// The reduction keeps the order.
		value := reduce(b.slots[i].hash, limit)
		b.code.golomb(value - last)
		last = value
	}
}

// bitWriter writes bits, the highest first.
type bitWriter struct {
	out  []byte
	word uint64 // bits not yet in out, from the top
	free uint   // bits of word still free, 1 to 64
}

// reset begins a new output after the given bytes.
func (w *bitWriter) reset(out []byte) { w.out, w.word, w.free = out, 0, 64 }

// golomb writes a number in the Golomb-Rice code: the quotient by 2^P in
// unary, a zero, the remainder.
func (w *bitWriter) golomb(delta uint64) {
	quotient, remainder := uint(delta>>P), delta&(1<<P-1)
	for ; quotient > maxRun; quotient -= maxRun {
		w.write(1<<maxRun-1, maxRun)
	}
	w.write((1<<quotient-1)<<minBits|remainder, quotient+minBits)
}

// write writes the lowest n bits of x, 1 to 64; the others must be zero.
func (w *bitWriter) write(x uint64, n uint) {
	if n < w.free {
		w.free -= n
		w.word |= x << w.free
		return
	}
	n -= w.free
	w.out = binary.BigEndian.AppendUint64(w.out, w.word|x>>n)
	w.word = x << (64 - n) // zero if n is
	w.free = 64 - n
}

// finish fills the last byte with zero bits and returns the output, which the
// next reset overwrites.
func (w *bitWriter) finish() []byte {
	used := int(64-w.free+7) / 8
	end := len(w.out) + used
	w.out = binary.BigEndian.AppendUint64(w.out, w.word)[:end]
	return w.out
}
