package rangefilter

import (
	"math"
	"math/bits"
)

// layout says where a filter has room. It consists of segments as long as a power of
// two; a hash has a place in each of three that follow one another.
type layout struct {
	length   uint32 // of a segment
	segments uint32 // that a hash may begin in
}

// maxLength is the longest segment: a hash has 18 bits for a place in it.
const maxLength = 1 << 18

// layoutOf returns the layout for n hashes: lengths and room as "Binary Fuse Filters:
// Fast and Smaller Than Xor Filters" (Graf, Lemire, 2022) found them by experiment.
// Some numbers of hashes need a shorter segment, which one attempt of four has.
func layoutOf(n, attempt int) layout {
	l, room := layout{length: 4}, 0.0
	if n > 0 {
		l.length = min(uint32(1)<<int(math.Log(float64(n))/math.Log(3.33)+2.25), maxLength)
	}
	if n > 1 {
		factor := max(1.125, 0.875+0.25*math.Log(1_000_000)/math.Log(float64(n)))
		room = math.Round(float64(n) * factor)
	}
	l.segments = max((uint32(room)+l.length-1)/l.length, 3) - 2
	if attempt%4 == 1 && n > 4 && n < 1_000_000 {
		l.length, l.segments = l.length/2, l.segments*2+2
	}
	return l
}

// capacity returns how many places there are.
func (l layout) capacity() int { return int(l.segments+2) * int(l.length) }

// A graph has the hashes at their places. Of a hash it keeps only the 40 bits that
// are needed once one of its places is known, and of a place only their XOR. This
// takes 6 bytes a place, and 4 more while hashes are taken off.
type graph struct {
	layout

	low  []uint32 // XOR of bits 0 to 31 of the hashes at a place
	high []uint8  // of bits 32 to 39

	// count is four times the number of hashes at a place, plus the XOR of which of
	// their three places it is. A place is full at 63.
	count []uint8

	peeled []uint32 // places that a hash was alone at, in the order of their removal
}

func newGraph(l layout) *graph {
	n := l.capacity()
	return &graph{layout: l, low: make([]uint32, n), high: make([]uint8, n), count: make([]uint8, n)}
}

// insertAll takes the hashes out of a collection. It reports whether there was room
// at all places.
func (g *graph) insertAll(c *collection) bool {
	ok := true
	for i := range c.list {
		for _, hash := range c.list[i] {
			ok = g.insert(hash) && ok
		}
		c.list[i] = nil
	}
	return ok
}

func (g *graph) insert(hash uint64) bool {
	low, high := uint32(hash), uint8(hash>>32)
	begin, _ := bits.Mul64(hash, uint64(g.segments)*uint64(g.length))
	mask, ok := g.length-1, true
	first := uint32(begin)
	second := first + g.length ^ middle(low, high)&mask
	third := first + 2*g.length ^ low&mask
	for role, at := range [3]uint32{first, second, third} {
		g.low[at] ^= low
		g.high[at] ^= high
		g.count[at] = (g.count[at] + 4) ^ uint8(role)
		ok = ok && g.count[at] >= 4 // not more than can be counted
	}
	return ok
}

// middle returns the bits of a hash that its second place follows from.
func middle(low uint32, high uint8) uint32 { return low>>18 | uint32(high)<<14 }

// others returns the other two places of the hash that is alone at a place.
func (g *graph) others(at uint32) (next, last uint32) {
	mask := g.length - 1
	second, third := middle(g.low[at], g.high[at])&mask, g.low[at]&mask
	switch g.count[at] & 3 {
	case 0:
		return at + g.length ^ second, at + 2*g.length ^ third
	case 1:
		first := (at ^ second) - g.length
		return first + 2*g.length ^ third, first
	default:
		first := (at ^ third) - 2*g.length
		return first, first + g.length ^ second
	}
}

// peel takes off hashes that are alone at a place for as long as there are any, and
// returns how many it took.
func (g *graph) peel() int {
	// Each place is queued once at most, and leaves the queue before it is counted
	// as peeled: both fit into one slice, one from each end.
	room := make([]uint32, g.capacity())
	queue := len(room)
	push := func(at uint32) { queue--; room[queue] = at }
	for at, count := range g.count {
		if count>>2 == 1 {
			push(uint32(at))
		}
	}
	peeled := 0
	for queue < len(room) {
		at := room[queue]
		queue++
		if g.count[at]>>2 != 1 {
			continue // went with another of its places
		}
		room[peeled] = at
		peeled++
		role := g.count[at] & 3
		next, last := g.others(at)
		g.remove(at, next, (role+1)%3, push)
		g.remove(at, last, (role+2)%3, push)
	}
	g.peeled = room[:peeled]
	return peeled
}

// remove takes the hash that is alone at one place off the place at, where it has
// the given role. If another hash is alone there now, at is queued.
func (g *graph) remove(alone, at uint32, role uint8, push func(uint32)) {
	if g.count[at]>>2 == 2 {
		push(at)
	}
	g.count[at] = (g.count[at] - 4) ^ role
	g.low[at] ^= g.low[alone]
	g.high[at] ^= g.high[alone]
}
