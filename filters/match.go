package filters

import (
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

const (
	// chunk is how many scripts are hashed at a time. A hit is noticed
	// after a chunk, and its hashes stay in the first-level cache. It is a
	// multiple of tileWidth.
	chunk = 256

	// readAhead is how many bytes after the end of a filter may be read.
	readAhead = 64
)

// Filter is a filter to be matched.
type Filter struct {
	Block chainhash.Hash // of the block the filter is for

	// Data is the serialized filter, N included. It is only read. Up to 64
	// bytes after len(Data), but none after cap(Data), may be read too: they
	// do not matter, but where they are there, matching is a little faster.
	Data []byte

	// Lines are the probe lines of Data, which [AppendLines] made, and N is
	// the number of elements that it told. Without lines the filter is matched
	// by decoding it. LinesSum is the CRC-32 (IEEE) of the lines.
	Lines    []byte
	N        uint32
	LinesSum uint32

	// Unsure says that Data was not checked: no answer rests on bytes of it
	// that were held neither against its CRC-32 (IEEE), which is Sum, nor
	// against a checksum in Lines.
	Unsure bool
	Sum    uint32
}

// BatchError tells which filter of a batch is damaged. It wraps [ErrBadFilter].
type BatchError struct {
	Index int // in the batch
	Err   error
}

// Error implements error.
func (e *BatchError) Error() string { return fmt.Sprintf("filter %d of batch: %v", e.Index, e.Err) }

// Unwrap returns what is wrong with the filter.
func (e *BatchError) Unwrap() error { return e.Err }

// Match reports whether the filter of a block matches any of the scripts. For
// more than one filter use a [Query] and a [Matcher]. The error wraps
// [ErrBadFilter].
func Match(block *chainhash.Hash, filter []byte, scripts [][]byte) (bool, error) {
	var hit [1]bool
	batch := []Filter{{Block: *block, Data: filter}}
	if err := NewMatcher(NewQuery(scripts)).Match(batch, hit[:]); err != nil {
		return false, fmt.Errorf("filter of block %v: %w", block, err)
	}
	return hit[0], nil
}

// Matcher matches filters against one query. It holds the scratch memory of
// one worker, which grows with the largest filters seen, and is not safe for
// concurrent use.
type Matcher struct {
	query   *Query
	kernel  *kernel
	order   []uint64 // filters of the batch by N: N<<32 | index
	lanes   []lane
	values  []uint64 // of all lanes
	marked  [2]elements
	scratch scratch
	method  Method
	prober  prober
	stale   []int
}

// NewMatcher returns a matcher for the query that works by the fastest [Method].
func NewMatcher(q *Query) *Matcher { return Method{}.NewMatcher(q) }

// Reset makes the matcher one for the query that works by the method, but keeps its
// memory.
func (m *Matcher) Reset(q *Query, by Method) {
	m.query, m.kernel, m.method = q, by.kernel(), by
	if n := m.kernel.lanes; n != len(m.lanes) {
		m.lanes = make([]lane, n)
	}
}

// SetQuery makes the matcher look for another query.
func (m *Matcher) SetQuery(q *Query) { m.query = q }

// Match sets hits[i] to whether the filter batch[i] matches any script of the
// query; hits must be as long as the batch, which must have fewer than 2^32
// filters. The larger the batch the better, up to some hundred filters; order
// and sizes do not matter. It allocates nothing once the matcher has seen a
// filter and a batch as large.
//
// If filters are damaged the error is a [*BatchError] for the first damaged
// filter. Hits of damaged filters are false, hits of the others are set.
func (m *Matcher) Match(batch []Filter, hits []bool) error {
	hits = hits[:len(batch)]
	clear(hits)
	m.order, m.stale = m.order[:0], m.stale[:0]
	m.prober.reset()
	var bad firstBad
	for i := range batch {
		if f := &batch[i]; !m.probes(f) || !m.prober.add(i, f) {
			m.toDecode(batch, i, &bad)
		}
	}
	m.prober.run(m.kernel, m.query)
	for i := range m.prober.all {
		p := &m.prober.all[i]
		if m.prober.stale(i) {
			m.stale = append(m.stale, int(p.index))
			m.toDecode(batch, int(p.index), &bad)
			continue
		}
		hits[p.index] = p.hit
	}
	// Filters side by side should end together.
	slices.Sort(m.order)
	for group := range slices.Chunk(m.order, len(m.lanes)) {
		lanes := m.load(batch, group)
		m.match(lanes)
		for i := range lanes {
			l := &lanes[i]
			if l.err != nil {
				bad.fail(l.index, l.err)
			}
			hits[l.index] = l.hit
		}
	}
	return bad.get()
}

// StaleLines returns which filters of the last batch had probe lines that are not
// theirs, or are damaged, in any order. They were matched without. It is valid
// until the next batch.
func (m *Matcher) StaleLines() []int { return m.stale }

// probes reports whether to look the scripts up by the lines of a filter.
func (m *Matcher) probes(f *Filter) bool { return m.method.ReadsLines(f, m.query.Len()) }

// toDecode puts a filter into the order of those to decode, unless it is bad.
func (m *Matcher) toDecode(batch []Filter, i int, bad *firstBad) {
	n, _, err := split(batch[i].Data)
	if err == nil && !batch[i].Sound() {
		err = fmt.Errorf("%w: checksum mismatch", ErrBadFilter)
	}
	if err != nil {
		bad.fail(i, err)
		return
	}
	m.order = append(m.order, n<<32|uint64(i))
}

// firstBad is the first bad filter of a batch.
type firstBad struct{ err *BatchError }

func (b *firstBad) fail(i int, err error) {
	if b.err == nil || i < b.err.Index {
		b.err = &BatchError{i, err}
	}
}

func (b *firstBad) get() error {
	if b.err == nil {
		return nil
	}
	return b.err
}

// load makes lanes of a group of filters, each given as in Matcher.order.
func (m *Matcher) load(batch []Filter, group []uint64) []lane {
	lanes := m.lanes[:len(group)]
	size := 0
	for i, entry := range group {
		n, index := int(entry>>32), int(uint32(entry))
		_, code, _ := split(batch[index].Data) // was checked before
		lanes[i] = lane{index: index, key: keyOf(&batch[index].Block), code: code, done: n}
		size += spaced(n)
	}
	m.values = slices.Grow(m.values[:0], size)[:size]
	rest := m.values
	for i := range lanes {
		l := &lanes[i]
		l.values, rest = rest[:l.done], rest[spaced(l.done):]
		l.done = 0
	}
	return lanes
}

// spaced returns how far apart the values of lanes must be for n values: an odd
// number of cache lines. Lines a power of two apart would share a few places in
// the cache.
func spaced(n int) int { return ((n+7)/8 | 1) * 8 }

// match decodes the lanes and sets hit or err of each.
func (m *Matcher) match(lanes []lane) {
	n, k := len(lanes[len(lanes)/2].values), m.query.Len()
	if m.kernel.searches(len(lanes), n, k) {
		m.kernel.search(lanes, m.query, &m.scratch)
		return
	}
	m.kernel.decode(lanes)
	m.lookUp(lanes)
}

// lookUp sets hit of lanes that are decoded. While the scripts are looked up in one
// of them, the next is made ready.
func (m *Matcher) lookUp(lanes []lane) {
	now, ahead := &m.marked[0], &m.marked[1]
	var current *lane
	for i := range lanes {
		l := &lanes[i]
		if l.err != nil || len(l.values) == 0 {
			continue
		}
		ahead.begin(l.values)
		if current != nil {
			current.hit = m.holdsAny(current, now, ahead)
		}
		m.kernel.mark(ahead)
		current, now, ahead = l, ahead, now
	}
	if current != nil {
		ahead.begin(nil)
		current.hit = m.holdsAny(current, now, ahead)
	}
}

// holdsAny reports whether a lane, whose elements are marked, holds one of the
// scripts. Meanwhile it may mark some of ahead.
func (m *Matcher) holdsAny(l *lane, now, ahead *elements) bool {
	for i := range m.query.groups {
		g := &m.query.groups[i]
		for at := 0; at < g.count; at += chunk {
			hashes := m.scratch.hashes[:min(chunk, g.count-at)]
			kept := m.kernel.hashAndTest(hashes, g.tile(at), g.words, l.key, l.limit(), now, ahead)
			if now.containsAny(hashes[:kept]) {
				return true
			}
		}
	}
	return false
}
