package filters

import (
	"math"
	"math/bits"
	"runtime"
	"slices"
)

func (avx512) walk(places []place, which []uint32, all []probe) {
	for len(which) >= minLanes {
		n := min(len(which), vectorLanes)
		var group [vectorLanes]uint32
		for i := copy(group[:], which[:n]); i < vectorLanes; i++ { // does again what another lane does
			group[i] = group[0]
		}
		which = which[n:]
		// The chunk's first element may be in the first of the slots before, but
		// each of the other slots has a later element.
		passed := max(int(places[group[0]].before)-1, 0) / 4
		found, stuck := walkPlaces(&places[0], &group[0], &all[0], passed)
		if stuck != 0 {
			found = math.MaxUint32
		}
		for found &= uint32(1<<n - 1); found != 0; found &= found - 1 {
			p := &places[group[bits.TrailingZeros32(found)]]
			f := &all[p.filter]
			f.hit = f.hit || p.walk(f.code)
		}
	}
	walkEach(places, which, all)
}

// walk decodes from four places at a time as many elements as are likely to
// decide, and from there on one by one.
func (avx2) walk(places []place, which []uint32, all []probe) {
	var values [scalarLanes][2 * (lastRank/2 + 2)]uint64
	for ; len(which) >= scalarLanes; which = which[scalarLanes:] {
		var s lanes4
		pairs := int(places[which[scalarLanes-1]].before+3) / 2
		room := true
		for i := range scalarLanes {
			p := &places[which[i]]
			f := &all[p.filter]
			room = room && p.pos+uint32(pairs)*2*57 < f.windows
			s.pos[i], s.last[i] = uint64(address(f.code))*8+uint64(p.pos), p.last
			s.out[i] = address(values[i][:]) + 16*uintptr(pairs)
		}
		if !room || decodeFour(&s, pairs) != pairs*scalarLanes {
			walkEach(places, which[:scalarLanes], all)
			continue
		}
		for i := range scalarLanes {
			p := &places[which[i]]
			f := &all[p.filter]
			if p.last == p.want || slices.Contains(values[i][:2*pairs], p.want) {
				f.hit = f.hit || p.walk(f.code) // it may be beyond the end
				continue
			}
			rest := *p
			rest.pos, rest.last = uint32(s.pos[i]-uint64(address(f.code))*8), s.last[i]
			f.hit = f.hit || rest.walk(f.code)
		}
	}
	walkEach(places, which, all)
	runtime.KeepAlive(&values)
}

//go:noescape
func walkPlaces(places *place, which *uint32, all *probe, passed int) (found uint32, stuck uint64)
