package filters

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// vectorLanes is how many filters or places are worked on side by side.
const vectorLanes = 32

// memoLines is for how many lines of a filter it is remembered that they were
// checked: more than full blocks have.
const memoLines = 256

// laneKeys is what a script is hashed with for each of several filters.
type laneKeys struct{ k0, k1, limit [vectorLanes]uint64 }

// probe is one filter that scripts are looked up in by its lines.
type probe struct {
	lines []byte
	code  []byte
	index int // of the filter in its batch
	seed  uint32
	sure  bool // lines and code were checked as a whole
	hit   bool
	bad   bool // its lines cannot be used

	linesOK, codeOK lineSet
}

// lineSet is a set of lines of a filter.
type lineSet [memoLines / 64]uint64

func (s *lineSet) has(line uint64) bool { return line < memoLines && s[line/64]>>(line%64)&1 != 0 }

func (s *lineSet) add(line uint64) {
	if line < memoLines {
		s[line/64] |= 1 << (line % 64)
	}
}

// waiting is a place that has to be looked at.
type waiting struct {
	place
	probe *probe
	line  *[lineSize]byte
}

// prober is what a matcher looks scripts up with.
type prober struct {
	all     []probe
	keys    laneKeys
	hashes  [vectorLanes]uint64
	lines   [vectorLanes]*[lineSize]byte
	waiting []waiting
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

// add takes a filter that has lines. It returns false where those cannot be of
// this filter.
func (p *prober) add(index int, f *Filter) bool {
	size := compactLen(f.N)
	if len(f.Lines) != LinesSize(f.N) || len(f.Data) < size {
		return false
	}
	p.all = append(p.all, probe{
		index: index, lines: f.Lines, code: f.Data[size:], seed: keyOf(&f.Block).seed(f.N),
	})
	return true
}

// run looks the scripts of a query up in all filters that were added.
func (p *prober) run(k kernel, batch []Filter, q *Query, s *scratch) {
	p.waiting = p.waiting[:0]
	if q.Len() <= spotScripts {
		for group := range slices.Chunk(p.all, vectorLanes) {
			p.spot(k, batch, group, q)
		}
	} else {
		for i := range p.all {
			p.whole(k, batch, &p.all[i], q, s)
		}
	}
	p.settle(k)
}

// spot looks few scripts up, each in all filters of a group at once. It checks
// the lines that it looks at.
func (p *prober) spot(k kernel, batch []Filter, group []probe, q *Query) {
	for i := range group {
		f := &batch[group[i].index]
		key := keyOf(&f.Block)
		p.keys.k0[i], p.keys.k1[i], p.keys.limit[i] = key.k0, key.k1, uint64(f.N)*M
	}
	for i := range q.groups {
		m := &q.groups[i]
		for j := range m.count {
			k.hashAcross(&p.hashes, m.tiles[tileAt(j, m.words):], m.words, &p.keys, len(group))
			p.look(group)
			if len(p.waiting) >= vectorLanes {
				p.settle(k)
			}
		}
	}
}

// look looks at the lines of the hashes, one for each filter of a group.
func (p *prober) look(group []probe) {
	var touched uint64
	for i := range group {
		line := lineOf(group[i].lines, p.hashes[i])
		p.lines[i] = line
		// All of these wait for memory together.
		touched |= binary.LittleEndian.Uint64(line[lineSize-8:])
	}
	_ = touched
	for i := range group {
		g, line, v := &group[i], p.lines[i], p.hashes[i]
		if number := v >> lineBits; !g.linesOK.has(number) {
			if !lineIntact(line, g.seed, int(number)) {
				g.bad = true
				continue
			}
			g.linesOK.add(number)
		}
		if occupied(line, v) {
			p.waiting = append(p.waiting, waiting{placeOf(line, v), g, line})
		}
	}
}

// whole looks many scripts up in one filter, whose lines and code it checks as
// a whole.
func (p *prober) whole(k kernel, batch []Filter, g *probe, q *Query, s *scratch) {
	f := &batch[g.index]
	if crc32.ChecksumIEEE(f.Lines) != f.LinesSum || !f.check() {
		g.bad = true
		return
	}
	g.sure = true
	q.eachHash(k, keyOf(&f.Block), uint64(f.N)*M, s, func(hashes []uint64) bool {
		for _, v := range hashes[:k.siftLines(hashes, f.Lines)] {
			p.waiting = append(p.waiting, waiting{placeOf(lineOf(g.lines, v), v), g, nil})
		}
		if len(p.waiting) >= vectorLanes {
			p.settle(k)
		}
		return g.hit
	})
}

// settle looks at all places that wait.
func (p *prober) settle(k kernel) {
	var touched byte
	for i := range p.waiting {
		w := &p.waiting[i]
		if at := w.pos / 8; at < uint64(len(w.probe.code)) {
			touched |= w.probe.code[at]
		}
	}
	_ = touched
	sound := p.waiting[:0]
	for i := range p.waiting {
		w := &p.waiting[i]
		if g := w.probe; !g.hit && !g.bad && w.sound() {
			sound = append(sound, *w)
		}
	}
	k.walk(sound)
	p.waiting = p.waiting[:0]
}

// sound reports whether the code that a place is in was checked, and is intact.
func (w *waiting) sound() bool {
	g, number := w.probe, w.want>>lineBits
	if g.sure || g.codeOK.has(number) {
		return true
	}
	if !codeIntact(w.line, g.code) {
		g.bad = true
		return false
	}
	g.codeOK.add(number)
	return true
}

// check reports whether Data is what was stored.
func (f *Filter) check() bool { return !f.Unsure || crc32.ChecksumIEEE(f.Data) == f.Sum }

// walkEach is walk in plain Go.
func walkEach(places []waiting) {
	for i := range places {
		w := &places[i]
		w.probe.hit = w.probe.hit || w.find(w.probe.code)
	}
}

// siftEach is siftLines in plain Go.
func siftEach(hashes []uint64, lines []byte) int {
	n := 0
	for _, v := range hashes {
		hashes[n] = v
		n += int(binary.LittleEndian.Uint64(lines[v>>lineBits*lineSize+v>>chunkBits%lineChunks*8:]) >> (v >> slotBits % 64) & 1)
	}
	return n
}

// hashEachLane is hashAcross in plain Go.
func hashEachLane(dst *[vectorLanes]uint64, message []uint64, words int, keys *laneKeys, n int) {
	for i := 0; i < n; i += 2 {
		j := min(i+1, vectorLanes-1)
		dst[i], dst[j] = hashBoth(message[:(words-1)*tileWidth+1], sipKey{keys.k0[i], keys.k1[i]}, sipKey{keys.k0[j], keys.k1[j]})
		dst[i] = reduce(dst[i], keys.limit[i])
		if j > i {
			dst[j] = reduce(dst[j], keys.limit[j])
		}
	}
}

// hashBoth hashes a message, whose words are tileWidth apart, with two keys.
func hashBoth(message []uint64, x, y sipKey) (hashX, hashY uint64) {
	v0, v1, v2, v3 := x.k0^sip0, x.k1^sip1, x.k0^sip2, x.k1^sip3
	u0, u1, u2, u3 := y.k0^sip0, y.k1^sip1, y.k0^sip2, y.k1^sip3
	for at := 0; at < len(message); at += tileWidth {
		m := message[at]
		v3 ^= m
		u3 ^= m
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		u0, u1, u2, u3 = sipRound(u0, u1, u2, u3)
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		u0, u1, u2, u3 = sipRound(u0, u1, u2, u3)
		v0 ^= m
		u0 ^= m
	}
	v2 ^= 0xff
	u2 ^= 0xff
	for range 4 {
		v0, v1, v2, v3 = sipRound(v0, v1, v2, v3)
		u0, u1, u2, u3 = sipRound(u0, u1, u2, u3)
	}
	return v0 ^ v1 ^ v2 ^ v3, u0 ^ u1 ^ u2 ^ u3
}
