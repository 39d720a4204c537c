package coincache

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sort"
	"sync"
)

// fronts is how many parts changes are sorted in: by the first byte of the key.
const fronts = 256

// Changes are what a cache has to write, as it was at one moment, whatever becomes of
// the cache. Their methods are safe for concurrent use. They are to be released: until
// then their memory, 16 bytes a change, and that of the records is not used again.
type Changes struct {
	table  *table
	chunks [][]byte
	all    []order
	ends   [fronts]int // of the parts of all

	parted sync.Once
	sorted [fronts]sync.Once

	readers  sync.RWMutex // held for reading while the records are read
	released bool

	// Size is about how many bytes the changes add to the store.
	Size int
}

// Changes returns what is to be written now.
func (c *Cache) Changes() *Changes {
	t := c.table
	t.users.Add(1)
	s := &Changes{table: t, chunks: t.chunks, all: allocOrders(c.dirties)}
	n := 0
	t.each(func(ref uint32, r record) {
		if r.flags()&dirty == 0 {
			return
		}
		s.all[n] = orderOf(r, ref)
		n++
		s.ends[r.key()[0]]++
		if r.flags()&spent == 0 {
			s.Size += len(r.key()) + r.valueLen()
		}
	})
	for i := 1; i < fronts; i++ {
		s.ends[i] += s.ends[i-1]
	}
	return s
}

// Release gives the changes up. It waits for calls that read the changes.
func (s *Changes) Release() {
	s.readers.Lock()
	defer s.readers.Unlock()
	if s.released {
		return
	}
	s.released = true
	freeOrders(s.all)
	s.all, s.chunks = nil, nil
	s.table.leave()
}

// part returns the changes whose keys begin with a byte, in the order of their keys.
func (s *Changes) part(front byte) []order {
	s.parted.Do(s.split)
	from := 0
	if front > 0 {
		from = s.ends[front-1]
	}
	list := s.all[from:s.ends[front]]
	s.sorted[front].Do(func() { sortOrders(list, s.record) })
	return list
}

// split brings the changes that begin with the same byte together.
func (s *Changes) split() {
	var next [fronts]int
	copy(next[1:], s.ends[:])
	for front := range fronts {
		for next[front] < s.ends[front] {
			at := &s.all[next[front]]
			of := byte(at.id >> 56)
			other := &s.all[next[of]]
			*at, *other = *other, *at
			next[of]++
		}
	}
}

func (s *Changes) record(ref uint32) record { return recordOf(s.chunks, ref) }

// errReleased reports changes that were given up.
var errReleased = errors.New("changes of the unspent outputs were released")

// Merge lays the changes over the rows of a store. The function rows calls next with
// every row whose key begins with two bytes from first to last, read as big-endian
// numbers. It goes by the order of the keys, and ends with an error of next. Merge
// calls visit with the rows after the changes, in the same order. Keys and values are
// valid during the call.
func (s *Changes) Merge(
	first, last uint16, rows func(next func(key, value []byte) error) error, visit func(key, value []byte) error,
) error {
	s.readers.RLock()
	defer s.readers.RUnlock()
	if s.released {
		return errReleased
	}
	w := s.walk(first, last)
	apply := func() error {
		key, value := w.key, w.value
		w.next()
		if value == nil {
			return nil
		}
		return visit(key, value)
	}
	err := rows(func(stored, value []byte) error {
		for w.key != nil {
			order := bytes.Compare(w.key, stored)
			if order > 0 {
				break
			}
			if err := apply(); err != nil || order == 0 {
				return err
			}
		}
		return visit(stored, value)
	})
	for err == nil && w.key != nil {
		err = apply()
	}
	return err
}

// A walk goes through changes in the order of their keys.
type walk struct {
	changes     *Changes
	front, last int    // of list, and of the last list
	end         []byte // keys are below it; nil: no bound
	list        []order

	key, value []byte // of the change at hand; a nil value deletes, a nil key is the end
}

// walk begins at the first change of a range of keys.
func (s *Changes) walk(first, last uint16) *walk {
	w := &walk{changes: s, front: int(first >> 8), last: int(last >> 8)}
	if last != math.MaxUint16 {
		w.end = binary.BigEndian.AppendUint16(nil, last+1)
	}
	w.list = s.part(byte(w.front))
	from := uint64(first) << 48
	w.list = w.list[sort.Search(len(w.list), func(i int) bool { return w.list[i].id >= from }):]
	w.next()
	return w
}

func (w *walk) next() {
	for len(w.list) == 0 && w.front < w.last {
		w.front++
		w.list = w.changes.part(byte(w.front))
	}
	w.key, w.value = nil, nil
	if len(w.list) == 0 {
		return
	}
	r := w.changes.record(w.list[0].ref)
	w.list = w.list[1:]
	if key := r.key(); w.end == nil || bytes.Compare(key, w.end) < 0 {
		w.key = key
		if r.valueLen() > 0 { // no coin is empty; the flags may change meanwhile
			w.value = r.value()
		}
	}
}

// order is what records are sorted by: the front of the transaction's id, that of
// the output's index.
type order struct {
	id    uint64
	index uint32
	ref   uint32
}

const orderSize = 16

func orderOf(r record, ref uint32) order {
	var index [4]byte
	key := r.key()
	copy(index[:], key[32:])
	return order{binary.BigEndian.Uint64(key), binary.BigEndian.Uint32(index[:]), ref}
}

// sortOrders sorts by key. Different ids that begin alike are rare, so that records are
// looked at once only.
func sortOrders(list []order, record func(ref uint32) record) {
	slices.SortFunc(list, func(x, y order) int {
		switch {
		case x.id < y.id:
			return -1
		case x.id > y.id:
			return 1
		case x.index < y.index:
			return -1
		case x.index > y.index:
			return 1
		}
		return 0
	})
	key := func(o order) []byte { return record(o.ref).key() }
	for from := 0; from < len(list); {
		to, alike := from+1, true
		for ; to < len(list) && list[to].id == list[from].id; to++ {
			alike = alike && bytes.Equal(key(list[to])[:idSize], key(list[from])[:idSize])
		}
		if !alike {
			slices.SortFunc(list[from:to], func(x, y order) int { return bytes.Compare(key(x), key(y)) })
		}
		from = to
	}
}
