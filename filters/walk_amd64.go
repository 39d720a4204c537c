package filters

import "runtime"

// walkFours is how many times four elements decide nearly every place: a chunk has
// more than 24 elements after its first only once in five.
const walkFours = 6

// walkState is the state of walking from 32 places side by side.
type walkState struct {
	lanes lanes32
	rows  [2 * vectorLanes]uint64 // the numbers looked for, and all ones
}

func (avx512) walk(places []waiting, s *scratch) {
	for len(places) >= minLanes {
		n := min(len(places), vectorLanes)
		s.walk.group(places[:n])
		places = places[n:]
	}
	walkEach(places)
}

// group walks from up to 32 places.
func (w *walkState) group(places []waiting) {
	live, model := uint32(0), 0
	for i := range places {
		p := &places[i]
		l := lane{code: p.probe.code}
		w.rows[i], w.rows[vectorLanes+i] = p.want, ^uint64(0)
		w.lanes.last[i], w.lanes.next[i] = p.last, uint64(i)
		readable := uint64(l.readable()) * 8
		if p.pos+64 > readable || p.last >= p.want {
			continue
		}
		start := bitAddress(&l)
		w.lanes.pos[i], w.lanes.end[i] = start+p.pos, start+readable-64
		live |= 1 << i
		model = i
	}
	if live == 0 {
		walkEach(places)
		return
	}
	for i := range vectorLanes {
		if live>>i&1 == 0 { // does again what another lane does, and looks for nothing
			w.lanes.pos[i], w.lanes.end[i], w.lanes.last[i] = w.lanes.pos[model], w.lanes.end[model], 0
			w.rows[vectorLanes+i], w.lanes.next[i] = ^uint64(0), uint64(vectorLanes+i)
		}
	}
	w.lanes.found = 0
	mergeLanes(&w.lanes, walkFours, &w.rows[0])
	for i := range places {
		w.settle(&places[i], i, live>>i&1 != 0)
	}
	runtime.KeepAlive(places)
}

// settle notes what lane i found, or looks at its place one by one where that
// decides nothing: it may not have come far enough, or beyond the end.
func (w *walkState) settle(p *waiting, i int, walked bool) {
	l := lane{code: p.probe.code}
	pos := w.lanes.pos[i] - bitAddress(&l)
	inside := walked && pos <= uint64(len(l.code))*8
	switch {
	case inside && w.lanes.found>>i&1 != 0:
		p.probe.hit = true
	case inside && w.lanes.last[i] >= p.want, walked && pos >= p.end && w.lanes.found>>i&1 == 0:
		// passed without a match
	default:
		p.probe.hit = p.probe.hit || p.find(p.probe.code)
	}
}
