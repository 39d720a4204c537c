package filters

import (
	"math"
	"math/bits"
	"runtime"
	"unsafe"
)

const (
	// minLanes is the number of filters from which decoding in vectors, which
	// costs the same for one as for all, is faster than one by one.
	minLanes = 4

	// remnant is the number of elements that are rather decoded one by one
	// than in another round of vectors.
	remnant = 16

	// fourStep and blockStep are the steps of mergeLanes and decodeLanes, in
	// elements of each lane.
	fourStep  = 4
	blockStep = 8
)

// lanes32 is the state of 32 filters that are decoded side by side, as the
// assembly has it.
type lanes32 struct {
	pos  [vectorLanes]uint64  // address of the next bit: that of its byte times 8, plus 0 to 7
	last [vectorLanes]uint64  // the last element
	end  [vectorLanes]uint64  // the greatest pos from which 8 bytes may be loaded
	out  [vectorLanes]uintptr // address for the next elements, for decodeLanes

	next  [vectorLanes]uint64 // index in rows of the first hash that mergeLanes has not yet reached
	found uint64              // bit i is set when mergeLanes has found a hash in lane i
}

// vectorRun decodes a group of filters in rounds. A lane that has too little
// left to take part in the next round is finished one by one, and until all are
// it does again what another lane does.
type vectorRun struct {
	lanes32
	group []lane
	live  uint32   // bit i is set as long as lane i takes part
	rows  []uint64 // hashes to look for, as hashRows makes them; empty to only decode
}

// begin makes the group ready for the first round.
func (r *vectorRun) begin(group []lane) {
	r.group = group
	for i := range group {
		l := &group[i]
		r.live |= 1 << i
		r.next[i] = uint64(i)
		if l.readable() < 8 || len(l.values) < remnant {
			r.finish(i)
			continue
		}
		start := bitAddress(l)
		r.pos[i] = start
		r.end[i] = start + 8*uint64(l.readable()-8)
		r.out[i] = address(l.values)
	}
}

// bitAddress is the address of the first bit of a lane's code.
func bitAddress(l *lane) uint64 { return uint64(address(l.code)) * 8 }

// address is the address of a slice's first element. It is for assembly, which
// gets it as a number, so whatever holds the slice must be kept alive meanwhile.
func address[T any](s []T) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(s))) }

// steps returns of how many steps the next round consists, if each is unit
// elements: as many as all lanes have left. It is zero when there shall be no
// further round.
func (r *vectorRun) steps(unit int) int {
	if bits.OnesCount32(r.live) < minLanes {
		return 0
	}
	model := bits.TrailingZeros32(r.live)
	least := math.MaxInt
	for i := range vectorLanes {
		if r.live>>i&1 != 0 {
			l := &r.group[i]
			least = min(least, (len(l.values)-l.done)/unit)
			continue
		}
		r.pos[i], r.last[i], r.end[i], r.out[i] = r.pos[model], r.last[model], r.end[model], r.out[model]
		r.next[i] = uint64(max(len(r.rows)-1, 0))
	}
	return least
}

// advance takes note of a round of which so many steps are done, and finishes
// the lanes that cannot take part in another.
func (r *vectorRun) advance(steps, done, unit int) {
	for i := range r.group {
		l := &r.group[i]
		if r.live>>i&1 == 0 {
			continue
		}
		l.pos, l.last = r.pos[i]-bitAddress(l), r.last[i]
		l.done += done * unit
		if left := len(l.values) - l.done; left < remnant || done < steps && !r.fits(i, unit) {
			r.finish(i)
			continue
		}
		r.out[i] = address(l.values[l.done:])
	}
	runtime.KeepAlive(r.group)
}

// fits reports whether a lane can do another step: there is room for the longest
// elements, and those that come fit a window.
func (r *vectorRun) fits(i, unit int) bool {
	if r.pos[i]+uint64(unit)*64 > r.end[i] {
		return false
	}
	l := &r.group[i]
	code, pos := l.code[:cap(l.code)], l.pos
	for range unit {
		run := ones(window(code, pos))
		if run > maxRun {
			return false
		}
		pos += run + minBits
	}
	return true
}

// finish decodes the rest of a lane one by one, and looks there for the hashes.
func (r *vectorRun) finish(i int) {
	r.live &^= 1 << i
	l := &r.group[i]
	from := l.done
	l.finish()
	if len(r.rows) == 0 || l.err != nil {
		return
	}
	row := int(r.next[i])
	for _, v := range l.values[from:] {
		for r.rows[row] < v {
			row += vectorLanes
		}
		if r.rows[row] == v {
			l.hit = true
			return
		}
	}
}

// drain finishes the lanes that are left.
func (r *vectorRun) drain() {
	for r.live != 0 {
		r.finish(bits.TrailingZeros32(r.live))
	}
}
