package filters

import (
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

const (
	// searchRatio is how many elements a filter must have for each script
	// of the query, to make looking up each script among its values cheaper
	// than a bitmap of its elements.
	searchRatio = 32

	// chunk is how many scripts are hashed at a time. A hit is noticed
	// after a chunk, and its hashes stay in the first-level cache.
	chunk = 256
)

// Filter is a filter to be matched. Its bytes are only read, and none after
// len(Data).
type Filter struct {
	Block chainhash.Hash // of the block the filter is for
	Data  []byte         // serialized, N included
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
// one worker, which grows with the largest filter seen, and is not safe for
// concurrent use.
type Matcher struct {
	query  *Query
	kernel kernel
	order  []uint64 // filters of the batch by N: N<<32 | index
	lanes  []lane
	bitmap []uint64 // of the elements of one filter, see slotShift
	hashes [chunk]uint64
}

// NewMatcher returns a matcher for the query.
func NewMatcher(q *Query) *Matcher {
	return &Matcher{query: q, kernel: chosen, lanes: make([]lane, chosen.lanes())}
}

// Match sets hits[i] to whether the filter batch[i] matches any script of the
// query; hits must be as long as the batch, which must have fewer than 2^32
// filters. The larger the batch the better, up to some hundred filters; order
// and sizes do not matter. It allocates nothing once the matcher has seen a
// filter and a batch as large.
//
// If filters are damaged the error is a [*BatchError] for the first of them.
// Their hits are false, those of the others are set.
func (m *Matcher) Match(batch []Filter, hits []bool) error {
	hits = hits[:len(batch)]
	clear(hits)
	m.order = m.order[:0]
	var bad *BatchError
	fail := func(i int, err error) {
		if bad == nil || i < bad.Index {
			bad = &BatchError{i, err}
		}
	}
	for i := range batch {
		n, _, err := split(batch[i].Data)
		if err != nil {
			fail(i, err)
			continue
		}
		m.order = append(m.order, n<<32|uint64(i))
	}
	// Filters side by side should end together.
	slices.Sort(m.order)
	for group := range slices.Chunk(m.order, len(m.lanes)) {
		lanes := m.decode(batch, group)
		for i := range lanes {
			l := &lanes[i]
			if l.err != nil {
				fail(l.index, l.err)
				continue
			}
			hits[l.index] = m.any(l, keyOf(&batch[l.index].Block))
		}
	}
	if bad != nil {
		return bad
	}
	return nil
}

// decode decodes the filters of a group, each given as in Matcher.order.
func (m *Matcher) decode(batch []Filter, group []uint64) []lane {
	lanes := m.lanes[:len(group)]
	for i, entry := range group {
		l := &lanes[i]
		n, index := int(entry>>32), int(uint32(entry))
		_, code, _ := split(batch[index].Data) // was checked before
		*l = lane{index: index, code: code, values: slices.Grow(l.values[:0], n)[:n]}
	}
	m.kernel.decode(lanes)
	return lanes
}

// any reports whether any script of the query hashes to an element of the
// decoded filter.
func (m *Matcher) any(l *lane, key sipKey) bool {
	if len(l.values) == 0 {
		return false
	}
	sift := m.query.Len() > len(l.values)/searchRatio
	if sift {
		m.mark(l)
	}
	for i := range m.query.groups {
		g := &m.query.groups[i]
		for at := 0; at < g.count(); at += chunk {
			n := min(chunk, g.count()-at)
			hashes := m.hashes[:n]
			m.kernel.hash(hashes, g.messages[at*g.words:], g.words, key, l.limit())
			if sift {
				hashes = hashes[:m.kernel.sift(hashes, m.bitmap)]
			}
			for _, h := range hashes {
				if contains(l.values, h) {
					return true
				}
			}
		}
	}
	return false
}

// mark sets the bits of the filter's elements, and no others, in the bitmap.
func (m *Matcher) mark(l *lane) {
	size := int(l.limit()>>slotShift/64) + 1
	m.bitmap = slices.Grow(m.bitmap[:0], size)[:size]
	clear(m.bitmap)
	// The values ascend, so a word is built up before it is stored for good.
	// To load what was stored just before would take longer.
	var word, at uint64
	for _, v := range l.values {
		slot := v >> slotShift
		if slot/64 != at {
			word = 0
		}
		at = slot / 64
		word |= 1 << (slot % 64)
		m.bitmap[at] = word
	}
}

// contains reports whether v is one of the ascending values, at least one. As
// hashes they are spread evenly, about M apart, so v can only be some sqrt(N)/2
// places from where it should be.
func contains(values []uint64, v uint64) bool {
	i := min(int(v/M), len(values)-1)
	for i > 0 && values[i] > v {
		i--
	}
	for i < len(values)-1 && values[i] < v {
		i++
	}
	return values[i] == v
}
