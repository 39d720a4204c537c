package filters

import (
	"hash/crc32"
	"math"
	"math/bits"
	"slices"
)

const (
	// lagRows is how many rows of hashes wait for the memory to send their lines,
	// and blockRows how many for their parts of code. All fit a second-level cache.
	lagRows   = 16
	blockRows = 32

	// lastRank is the rank of places that a kernel must not walk from.
	lastRank = 64

	// walkAhead is how many bits after the end of a place kernels may begin to read
	// 8 bytes.
	walkAhead = 256

	// minSummed is from how many bytes on kernels sum a part of code.
	minSummed = 8
)

// prober is what a matcher looks scripts up with: so many at a time that nothing
// waits for memory alone.
type prober struct {
	all     []probe
	groups  []probeGroup
	scripts []message
	rows    [lagRows]row // hashed, and to be looked at

	stream [][]byte // what the memory is to be asked for, from next on
	next   int
	share  int    // how many bytes of it at a time
	ahead  uint32 // the first filter of the group that is for

	newer, older []place  // the older ones' code is there
	unsummed     []uint32 // places whose part of code is to be checked
	sums         [vectorLanes]uint32
	which        []uint32 // places, sorted
	ranked       [lastRank + 1]uint32
}

// message is that of one script: its words are tileWidth apart.
type message struct {
	tile  []uint64
	words int
}

// reset forgets all filters.
func (p *prober) reset() {
	p.all, p.groups, p.stream, p.next, p.ahead = p.all[:0], p.groups[:0], p.stream[:0], 0, 0
	p.newer, p.older = p.newer[:0], p.older[:0]
}

// add takes a filter that has lines. It returns false where those cannot be of
// this filter.
func (p *prober) add(index int, f *Filter) bool {
	size := compactLen(f.N)
	if f.N == 0 || len(f.Lines) != LinesSize(f.N) || len(f.Data) < size {
		return false
	}
	if len(p.all)%vectorLanes == 0 {
		p.groups = slices.Grow(p.groups, 1)[:len(p.groups)+1]
		g := &p.groups[len(p.groups)-1]
		g.first, g.count, g.most, g.bad, g.sure = uint32(len(p.all)), 0, 0, 0, false
	}
	p.groups[len(p.groups)-1].add(f)
	n := len(p.all)
	p.all = slices.Grow(p.all, 1)[:n+1]
	to := &p.all[n]
	// Field by field: a whole probe would be put together elsewhere first.
	to.index, to.filter, to.code = uint32(index), f, f.Data[size:]
	to.hit, to.bad, to.checked = false, false, lineSet{}
	to.windows = uint32(min(max(readable(to.code)-7, 0)*8, math.MaxUint32))
	return true
}

// run looks the scripts of a query up in all filters that were added. It does each
// step for many of them, and meanwhile the memory sends what the next step needs.
func (p *prober) run(k *kernel, q *Query) {
	if len(p.all) == 0 {
		return
	}
	p.groups[len(p.groups)-1].pad()
	p.list(q)
	rows := len(p.groups) * len(p.scripts)
	for i := range rows + lagRows {
		if i >= lagRows {
			p.look(k, i-lagRows)
		}
		if i < rows { // where the row was that is done
			p.hash(k, i)
		}
		if i%blockRows == blockRows-1 {
			p.settle(k)
		}
	}
	p.settle(k)
	p.settle(k)
}

// list lists the scripts of a query.
func (p *prober) list(q *Query) {
	p.scripts = p.scripts[:0]
	for i := range q.groups {
		m := &q.groups[i]
		for at := range m.count {
			p.scripts = append(p.scripts, message{m.tile(at), m.words})
		}
	}
}

// hash hashes a script for a group, and asks the memory for what that leads to.
func (p *prober) hash(k *kernel, at int) {
	g, m := p.group(at), &p.scripts[at%len(p.scripts)]
	hashes := &p.rows[at%lagRows]
	k.hashAcross(hashes, m.tile, m.words, &g.keys, g.count)
	if g.dense(len(p.scripts)) {
		p.fetchAhead(k, at)
	} else {
		k.fetchLines(hashes, g)
	}
}

// group is the group of a row.
func (p *prober) group(at int) *probeGroup { return &p.groups[at/len(p.scripts)] }

// fetchAhead asks the memory, in the rows of one group, for all lines of the next,
// and for all code where most of it will be needed.
func (p *prober) fetchAhead(k *kernel, at int) {
	scripts := len(p.scripts)
	if at/scripts+1 == len(p.groups) {
		return
	}
	if g := &p.groups[at/scripts+1]; p.ahead != g.first {
		p.ahead = g.first
		p.plan(g)
	}
	for left := p.share; left > 0 && p.next < len(p.stream); {
		b := p.stream[p.next]
		n := min(left, len(b))
		k.fetch(b[:n])
		left -= n
		if p.stream[p.next] = b[n:]; n == len(b) {
			p.next++
		}
	}
}

// plan lists what the memory is to be asked for a group.
func (p *prober) plan(g *probeGroup) {
	scripts, size := len(p.scripts), 0
	p.stream, p.next = p.stream[:0], 0
	for i := range g.count {
		p.stream = append(p.stream, g.all(i))
		if g.denseCode(scripts) {
			p.stream = append(p.stream, p.all[int(g.first)+i].code)
		}
	}
	for _, b := range p.stream {
		size += len(b)
	}
	p.share = (size/scripts + 64) &^ 63
}

// look looks at the lines of a row, and asks the memory for what these point to.
func (p *prober) look(k *kernel, at int) {
	g, hashes := p.group(at), &p.rows[at%lagRows]
	if len(p.scripts) >= g.most {
		p.check(k, g)
	} else {
		g.bad |= k.checkAcross(hashes, g)
	}
	found := k.lookAcross(hashes, g) &^ g.bad
	n := len(p.newer)
	p.newer = slices.Grow(p.newer, vectorLanes)[:n+bits.OnesCount32(found)]
	k.placesAcross(p.newer[n:], hashes, g, found, p.all)
}

// check checks all lines of a group, and all code where the kernel is faster at
// that than at the parts, unless that was done.
func (p *prober) check(k *kernel, g *probeGroup) {
	if g.sure {
		return
	}
	g.check(k)
	if !g.denseCode(len(p.scripts)) || k.sumsParts {
		return
	}
	for i := range g.count {
		f := &p.all[int(g.first)+i]
		f.checked.fill()
		f.bad = !f.filter.Sound()
	}
}

// settle looks at the places that were the newer ones when it was called before.
func (p *prober) settle(k *kernel) {
	places := p.older
	p.older, p.newer = p.newer, places[:0]
	if len(places) == 0 {
		return
	}
	p.sort(places)
	for part := range slices.Chunk(p.unsummed, vectorLanes) {
		p.sumParts(k, places, part)
	}
	last := p.ranked[lastRank-1]
	findEach(places, p.which[last:], p.all)
	k.walk(places, p.which[:last], p.all)
}

// sumParts checks parts of code.
func (p *prober) sumParts(k *kernel, places []place, which []uint32) {
	sums := p.sums[:len(which)]
	k.sumParts(sums, places, which, p.all)
	for i, at := range which {
		if w := &places[at]; sums[i] != w.sum {
			p.all[w.filter].bad = true
		}
	}
}

// sort tells which parts of code must be checked for places, and puts places that
// are about as far from their number side by side. Places that a kernel must not
// walk from come last.
func (p *prober) sort(places []place) {
	clear(p.ranked[:])
	p.unsummed = slices.Grow(p.unsummed[:0], len(places))[:len(places)]
	n := 0
	for i := range places {
		w := &places[i]
		f := &p.all[w.filter]
		p.unsummed[n] = uint32(i) // without a branch, which is hard to foresee
		fresh := f.checked.add(w.want >> lineBits)
		if w.size() < minSummed || uint64(w.end) > uint64(len(f.code))*8 {
			f.bad = f.bad || !w.intact(f.code)
			fresh = 0
		}
		n += fresh
		if w.end+walkAhead >= f.windows {
			w.before = lastRank
		}
		p.ranked[w.before]++
	}
	p.unsummed = p.unsummed[:n]
	p.which = slices.Grow(p.which[:0], len(places)+vectorLanes)[:len(places)]
	var sum uint32
	for i, n := range p.ranked {
		p.ranked[i], sum = sum, sum+n
	}
	for i := range places {
		rank := &p.ranked[places[i].before]
		p.which[*rank] = uint32(i)
		*rank++
	}
}

// stale reports whether the lines of filter i cannot be used.
func (p *prober) stale(i int) bool {
	return p.all[i].bad || p.groups[i/vectorLanes].bad>>(i%vectorLanes)&1 != 0
}

// LinesSound reports whether Lines are what was stored.
func (f *Filter) LinesSound() bool { return crc32.ChecksumIEEE(f.Lines) == f.LinesSum }

// Sound reports whether Data is what was stored, as far as it is not sure.
func (f *Filter) Sound() bool { return !f.Unsure || crc32.ChecksumIEEE(f.Data) == f.Sum }
