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
	hashes []uint64 // of the elements, in their order
	spans  []span   // of a block's elements: where they are
	places []uint32 // where the next hash of each bucket goes
	sorted []entry
	code   bitWriter
}

// span is a part of a block. It holds no pointer, so that the garbage collector need not
// scan thousands of spans.
type span struct{ from, size uint32 }

func (s span) of(b []byte) []byte { return b[s.from:][:s.size] }

// entry is a hash and the index of its element.
type entry struct {
	hash    uint64
	element uint32
}

// BuildBlock builds the basic filter of a serialized block (BIP158). Its
// elements are the scripts of the block's outputs, except scripts that begin
// with OP_RETURN, and spent, the scripts of the outputs that its inputs spend.
// Empty scripts are left out. Scripts may repeat, in any order.
//
// The block is as for [EachOutputScript]; blockHash, which is trusted, keys the
// filter. The error wraps [ErrBadBlock].
func (b *Builder) BuildBlock(
	blockHash *chainhash.Hash, rawBlock []byte, headerLen int, spent [][]byte,
) ([]byte, error) {
	key := keyOf(blockHash)
	b.hashes, b.spans = b.hashes[:0], b.spans[:0]
	c := cursor{rest: rawBlock}
	err := c.eachOutputScript(len(rawBlock), headerLen, func(script []byte) bool {
		if len(script) > 0 && script[0] != opReturn {
			from := len(rawBlock) - len(c.rest) - len(script) // the cursor is behind it
			b.spans = append(b.spans, span{uint32(from), uint32(len(script))})
			b.hashes = append(b.hashes, sipHash(key, script))
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	outputs := len(b.hashes)
	for i, script := range spent {
		if len(script) > 0 {
			b.spans = append(b.spans, span{from: uint32(i)}) // its place in spent
			b.hashes = append(b.hashes, sipHash(key, script))
		}
	}
	return b.build(func(i uint32) []byte {
		if int(i) < outputs {
			return b.spans[i].of(rawBlock)
		}
		return spent[b.spans[i].from]
	}), nil
}

// Build builds the filter of a set of elements, given in any order, some
// perhaps more than once, and fewer than 2^32. It returns the serialized
// filter, which is the caller's.
func (b *Builder) Build(blockHash *chainhash.Hash, elements [][]byte) []byte {
	key := keyOf(blockHash)
	b.hashes = slices.Grow(b.hashes[:0], len(elements))
	for _, element := range elements {
		b.hashes = append(b.hashes, sipHash(key, element))
	}
	return b.build(func(i uint32) []byte { return elements[i] })
}

// build builds the filter of the elements whose hashes are there; element returns the
// element with an index.
func (b *Builder) build(element func(i uint32) []byte) []byte {
	b.sort()
	b.dropRepeated(element)
	b.code.reset(appendCompactSize(b.code.out[:0], uint32(len(b.sorted))))
	b.encode()
	return bytes.Clone(b.code.finish())
}

// sort writes the hashes to sorted, in ascending order.
//
// Hashes are spread evenly, so the top bits say nearly where each belongs: they
// are put into buckets of one or two, and the rest is done by insertion.
func (b *Builder) sort() {
	n := len(b.hashes)
	width := bits.Len(uint(n))
	b.sorted = slices.Grow(b.sorted[:0], n)[:n]
	b.places = slices.Grow(b.places[:0], 1<<width)[:1<<width]
	clear(b.places)
	for _, hash := range b.hashes {
		b.places[hash>>(64-width)]++
	}
	at := uint32(0)
	for i, count := range b.places {
		b.places[i] = at
		at += count
	}
	for i, hash := range b.hashes {
		place := &b.places[hash>>(64-width)]
		b.sorted[*place] = entry{hash, uint32(i)}
		*place++
	}
	for i := 1; i < n; i++ {
		e := b.sorted[i]
		at := i
		for ; at > 0 && b.sorted[at-1].hash > e.hash; at-- {
			b.sorted[at] = b.sorted[at-1]
		}
		b.sorted[at] = e
	}
}

// dropRepeated leaves one entry of each element. Elements are compared as bytes:
// two with the same hash are still two.
func (b *Builder) dropRepeated(element func(i uint32) []byte) {
	kept := b.sorted[:0]
	for _, e := range b.sorted {
		repeated := false
		for k := len(kept) - 1; k >= 0 && kept[k].hash == e.hash && !repeated; k-- {
			repeated = bytes.Equal(element(kept[k].element), element(e.element))
		}
		if !repeated {
			kept = append(kept, e)
		}
	}
	b.sorted = kept
}

// encode writes the sorted hashes, reduced, as a Golomb-coded set.
func (b *Builder) encode() {
	limit := uint64(len(b.sorted)) * M
	var last uint64
	for i := range b.sorted {
		// The reduction keeps the order.
		value := reduce(b.sorted[i].hash, limit)
		b.code.golomb(value - last)
		last = value
	}
}

// Encode returns the serialized filter that holds exactly the given ascending
// values, the opposite of [Decode]. They are fewer than 2^32, each below
// len(values)*[M].
func Encode(values []uint64) []byte {
	var w bitWriter
	w.reset(appendCompactSize(nil, uint32(len(values))))
	var last uint64
	for _, v := range values {
		w.golomb(v - last)
		last = v
	}
	return w.finish()
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
