package filters

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"slices"
	"unsafe"
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
	hit   bool
	bad   bool // its lines cannot be used

	sure            bool // lines and code were checked as a whole
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
	lines   [vectorLanes]*byte // the first of each filter
	waiting []waiting
	touched byte // so that reading ahead is not optimized away
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
	if f.N == 0 || len(f.Lines) != LinesSize(f.N) || len(f.Data) < size {
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
	for group := range slices.Chunk(p.all, vectorLanes) {
		for i := range group {
			f := &batch[group[i].index]
			if q.Len()*spotElements > int(f.N) {
				group[i].check(f)
			}
		}
		if q.Len() > acrossScripts {
			for i := range group {
				group[i].check(&batch[group[i].index])
				p.each(k, &batch[group[i].index], &group[i], q, s)
			}
			continue
		}
		p.across(k, batch, group, q, s)
	}
	p.settle(k, s, 1)
}

// check checks lines and code as a whole, unless that was done.
func (g *probe) check(f *Filter) {
	g.sure = g.sure || f.LinesSound() && f.Sound()
	g.bad = !g.sure
}

// across looks each script up in all filters of a group at once.
func (p *prober) across(k kernel, batch []Filter, group []probe, q *Query, s *scratch) {
	for i := range group {
		f := &batch[group[i].index]
		key := keyOf(&f.Block)
		p.keys.k0[i], p.keys.k1[i], p.keys.limit[i] = key.k0, key.k1, uint64(f.N)*M
		p.lines[i] = &f.Lines[0]
	}
	for i := len(group); i < vectorLanes; i++ { // does again what another does
		p.keys.limit[i], p.lines[i] = 1, p.lines[0]
	}
	spot := slices.ContainsFunc(group, func(g probe) bool { return !g.sure })
	for i := range q.groups {
		m := &q.groups[i]
		for j := range m.count {
			k.hashAcross(&p.hashes, m.tiles[tileAt(j, m.words):], m.words, &p.keys, len(group))
			found := k.lookAcross(&p.hashes, &p.lines, len(group))
			if spot {
				p.checkLines(group)
			}
			for ; found != 0; found &= found - 1 {
				p.await(&group[bits.TrailingZeros32(found)], p.hashes[bits.TrailingZeros32(found)])
			}
			p.settle(k, s, vectorLanes)
		}
	}
}

// checkLines checks the lines that were looked at, one of each filter of a group.
func (p *prober) checkLines(group []probe) {
	for i := range group {
		g, number := &group[i], p.hashes[i]>>lineBits
		if g.sure || g.linesOK.has(number) {
			continue
		}
		if !lineIntact(lineOf(g.lines, p.hashes[i]), g.seed, int(number)) {
			g.bad = true
			continue
		}
		g.linesOK.add(number)
	}
}

// each looks all scripts up in one filter.
func (p *prober) each(k kernel, f *Filter, g *probe, q *Query, s *scratch) {
	if g.bad {
		return
	}
	q.eachHash(k, keyOf(&f.Block), uint64(f.N)*M, s, func(hashes []uint64) bool {
		for _, v := range hashes[:k.siftLines(hashes, f.Lines)] {
			p.await(g, v)
		}
		p.settle(k, s, vectorLanes)
		return g.hit
	})
}

// await notes that a filter may hold v.
func (p *prober) await(g *probe, v uint64) {
	if g.bad || g.hit {
		return
	}
	line := lineOf(g.lines, v)
	p.waiting = append(p.waiting, waiting{placeOf(line, v), g, line})
}

// settle looks at the places that wait, in multiples of so many, or all.
func (p *prober) settle(k kernel, s *scratch, multiple int) {
	n := len(p.waiting) / multiple * multiple
	if n == 0 {
		return
	}
	places := p.waiting[:n]
	var touched byte
	for i := range places { // all of these wait for memory together
		w := &places[i]
		if at := w.pos / 8; at < uint64(len(w.probe.code)) {
			touched |= w.probe.code[at]
		}
	}
	p.touched = touched
	sound := places[:0]
	for i := range places {
		if w := &places[i]; w.sound() {
			sound = append(sound, *w)
		}
	}
	k.walk(sound, s)
	p.waiting = p.waiting[:copy(p.waiting, p.waiting[n:])]
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

// LinesSound reports whether Lines are what was stored.
func (f *Filter) LinesSound() bool { return crc32.ChecksumIEEE(f.Lines) == f.LinesSum }

// Sound reports whether Data is what was stored, as far as it is not sure.
func (f *Filter) Sound() bool { return !f.Unsure || crc32.ChecksumIEEE(f.Data) == f.Sum }

// walkEach is walk in plain Go.
func walkEach(places []waiting) {
	for i := range places {
		w := &places[i]
		w.probe.hit = w.probe.hit || w.find(w.probe.code)
	}
}

// lookEach is lookAcross in plain Go.
func lookEach(hashes *[vectorLanes]uint64, lines *[vectorLanes]*byte, n int) (found uint32) {
	for i, v := range hashes[:n] {
		word := *(*uint64)(unsafe.Add(unsafe.Pointer(lines[i]), wordOf(v)))
		found |= uint32(word>>(v>>slotBits%64)&1) << i
	}
	return found
}

// wordOf is where in the lines of a filter the word is that has the bit of v.
func wordOf(v uint64) uint64 { return v>>lineBits*lineSize + v>>chunkBits%lineChunks*8 }

// siftEach is siftLines in plain Go.
func siftEach(hashes []uint64, lines []byte) int {
	n := 0
	for _, v := range hashes {
		hashes[n] = v
		n += int(binary.LittleEndian.Uint64(lines[wordOf(v):]) >> (v >> slotBits % 64) & 1)
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
