package filters

import (
	"math"
	"unsafe"
)

const (
	// vectorLanes is how many filters or places are worked on side by side.
	vectorLanes = 32

	// memoLines is for how many lines of a filter it is remembered that their part
	// of the code was checked: more than full blocks have.
	memoLines = 256
)

// row is the hash of one script for each filter of a group.
type row [vectorLanes]uint64

// laneKeys is what a script is hashed with for each of several filters.
type laneKeys struct{ k0, k1, limit row }

// probe is one filter that scripts are looked up in by its lines.
type probe struct {
	code    []byte
	filter  *Filter
	windows uint32 // bits of code from which 8 bytes may be read
	index   uint32 // of the filter in its batch
	hit     bool
	bad     bool    // its lines cannot be used
	checked lineSet // whose part of the code was
}

// lineSet is a set of lines of a filter.
type lineSet [memoLines / 64]uint64

// add adds a line and returns 1 if it was not there, or 0. Lines that are too many
// are never there.
func (s *lineSet) add(line uint64) int {
	if line >= memoLines {
		return 1
	}
	word := s[line/64]
	s[line/64] = word | 1<<(line%64)
	return int(^word >> (line % 64) & 1)
}

// fill adds all lines that it can.
func (s *lineSet) fill() {
	for i := range s {
		s[i] = math.MaxUint64
	}
}

// probeGroup are filters that a script is looked up in at once.
type probeGroup struct {
	keys  laneKeys
	lines [vectorLanes]*byte // the first of each filter
	seeds [vectorLanes]uint32
	sizes [vectorLanes]uint32 // how many lines
	first uint32              // index of the first filter
	count int
	most  int    // lines of any
	bad   uint32 // bit i is set if the lines of filter i cannot be used
	sure  bool   // all lines were checked

	touched byte // so that reading ahead is not optimized away
}

// add takes a filter with lines.
func (g *probeGroup) add(f *Filter) {
	key, i := keyOf(&f.Block), g.count
	g.keys.k0[i], g.keys.k1[i], g.keys.limit[i] = key.k0, key.k1, uint64(f.N)*M
	g.lines[i], g.seeds[i], g.sizes[i] = &f.Lines[0], key.seed(f.N), uint32(len(f.Lines)/lineSize)
	g.most = max(g.most, len(f.Lines)/lineSize)
	g.count++
}

// pad fills a group up with something to work on, which does not count.
func (g *probeGroup) pad() {
	for i := g.count; i < vectorLanes; i++ {
		g.keys.limit[i], g.lines[i], g.seeds[i] = 1, g.lines[0], g.seeds[0]
	}
}

// line returns the line of v in filter i.
func (g *probeGroup) line(i int, v uint64) *[lineSize]byte {
	return (*[lineSize]byte)(unsafe.Add(unsafe.Pointer(g.lines[i]), v>>lineBits*lineSize))
}

// all returns the lines of filter i.
func (g *probeGroup) all(i int) []byte { return unsafe.Slice(g.lines[i], g.sizes[i]*lineSize) }

// dense reports whether so many scripts need most of a group's lines.
func (g *probeGroup) dense(scripts int) bool { return 2*scripts >= g.most }

// denseCode reports whether they need most of its code.
func (g *probeGroup) denseCode(scripts int) bool { return 2*scripts >= 3*g.most }

// check checks all lines of a group.
func (g *probeGroup) check(r lineReader) {
	g.sure = true
	for i := range g.count {
		if !r.intactLines(g.all(i), g.seeds[i]) {
			g.bad |= 1 << i
		}
	}
}

// compactLen is the size of a CompactSize in its shortest form.
func compactLen(n uint32) int {
	switch {
	case n < 0xfd:
		return 1
	case n <= 0xffff:
		return 3
	default:
		return 5
	}
}
