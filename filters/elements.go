package filters

import (
	"math/bits"
	"slices"
)

const (
	// slotShift makes the bitmap of a filter's elements: one bit stands for
	// 2^slotShift numbers, which with M is 24 bits for each element. So the
	// bitmap of a full block lies in the first-level cache, and passes one
	// hash in 24.
	slotShift = 15

	// cellShift is the same for a cell of the bitmap, which has 32 bits.
	cellShift = slotShift + 5
)

// elements are the elements of a filter, being made ready to look up many hashes,
// or ready. Assembly knows the fields.
type elements struct {
	values []uint64 // ascending

	// cells are a bitmap with the positions of its values. Bit v>>slotShift%32
	// of cell v>>cellShift is set for each marked value v; no other bits are
	// set. The upper half of a cell with bits is the index of its first value.
	cells []uint64

	done int    // values that are marked
	cell uint64 // the cell of the last of them, and its number
	at   uint64
}

// begin takes other values, of which none is marked.
func (e *elements) begin(values []uint64) {
	size := len(values)*M>>cellShift + 1
	e.values = values
	e.cells = slices.Grow(e.cells[:0], size)[:size]
	clear(e.cells)
	e.done, e.cell, e.at = 0, 0, ^uint64(0)
}

// finish marks the values that are left. Values ascend, so that a cell is built up
// in a register: loading a cell that was stored just before would take longer. A
// shift in place of the rotation would take longer too, in the code that the
// compiler makes.
func (e *elements) finish() {
	cell, at, cells := e.cell, e.at, e.cells
	for i := e.done; i < len(e.values); i++ {
		v := e.values[i]
		first := uint64(i) << 32
		if v>>cellShift != at {
			cell = first
		}
		at = v >> cellShift
		cell |= bits.RotateLeft64(1, int(v>>slotShift%32))
		cells[at] = cell
	}
	e.done = len(e.values)
}

// sift moves those hashes whose bit is set to the front, and returns how many they
// are.
func (e *elements) sift(hashes []uint64) int {
	n := 0
	for _, h := range hashes {
		hashes[n] = h
		n += int(e.cells[h>>cellShift] >> (h >> slotShift % 32) & 1)
	}
	return n
}

// containsAny reports whether one of the hashes, whose bits are set, is an element.
// Most elements have their bit for themselves, so a hash can only be the one of as
// many bits as are set up to its own, or one of the next.
func (e *elements) containsAny(hashes []uint64) bool {
	values := e.values
	for _, v := range hashes {
		cell := e.cells[v>>cellShift]
		i := int(cell>>32) + bits.OnesCount32(uint32(cell)&(1<<(v>>slotShift%32)-1))
		if i+2 < len(values) && values[i+2] > v {
			if values[i] == v || values[i+1] == v {
				return true
			}
			continue
		}
		for i < len(values)-1 && values[i] < v {
			i++
		}
		if values[i] == v {
			return true
		}
	}
	return false
}
