package filters

import (
	"math/bits"
	"slices"
)

const (
	// slotShift makes the bitmap of a filter's elements: one bit stands for
	// 2^slotShift numbers, which with M is 48 bits for each element. So the
	// bitmap of a full block lies in the first-level cache, and passes one
	// hash in 48.
	slotShift = 14

	// wordShift is the same for a word of the bitmap.
	wordShift = slotShift + 6
)

// elements are the elements of a filter, made ready to look up many hashes.
type elements struct {
	values []uint64 // ascending
	bitmap []uint64 // bit v>>slotShift is set for each value v, and no other
	last   []uint32 // for each word of the bitmap that has bits: index of its last value
}

// mark makes it the elements with these values.
func (e *elements) mark(values []uint64) {
	size := len(values)*M>>wordShift + 1
	e.values = values
	e.bitmap = slices.Grow(e.bitmap[:0], size)[:size]
	e.last = slices.Grow(e.last[:0], size)[:size]
	clear(e.bitmap)
	// The values ascend, so a word is built up before it is stored for good.
	// To load what was stored just before would take longer, and so would a
	// shift in place of the rotation, by what the compiler makes of it.
	var word, at uint64
	bitmap, last := e.bitmap, e.last[:len(e.bitmap)]
	for i, v := range values {
		if v>>wordShift != at {
			word = 0
		}
		at = v >> wordShift
		word |= bits.RotateLeft64(1, int(v>>slotShift))
		bitmap[at] = word
		last[at] = uint32(i)
	}
}

// contains reports whether v, whose bit is set in the bitmap, is an element.
func (e *elements) contains(v uint64) bool {
	i := int(e.last[v>>wordShift])
	for i > 0 && e.values[i] > v {
		i--
	}
	return e.values[i] == v
}
