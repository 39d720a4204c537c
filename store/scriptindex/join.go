package scriptindex

import (
	"context"
	"slices"
	"sort"

	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/store/scriptindex/heighttable"
)

// Read implements source.
func (b *block) Read(lo, hi Key, to []heighttable.Element) ([]heighttable.Element, error) {
	from := sort.Search(len(b.keys), func(i int) bool { return b.keys[i] >= lo })
	for _, k := range b.keys[from:] {
		if k >= hi {
			break
		}
		to = append(to, heighttable.Make(k, uint32(b.Height)))
	}
	return to, nil
}

// Read implements source.
func (t *table) Read(lo, hi Key, to []heighttable.Element) ([]heighttable.Element, error) {
	to, err := t.heights.Read(lo, hi, to)
	if err != nil {
		return nil, t.failed(err)
	}
	return to, nil
}

// flush makes a table of the first n blocks that are in none. s.changing is held.
func (s *Store) flush(n int) error {
	s.mu.RLock()
	tables, pending := s.tables, s.pending
	s.mu.RUnlock()
	in := input{from: uint32(pending[0].Height), to: uint32(pending[n-1].Height), last: pending[n-1].Position}
	for i := range pending[:n] {
		in.sources = append(in.sources, &pending[i])
		in.elements += uint64(len(pending[i].keys))
	}
	var made *table
	if in.elements > 0 {
		var err error
		if made, err = s.writeTable(context.Background(), &in, cores.Count()); err != nil {
			return err
		}
		tables = append(slices.Clone(tables), made)
	}
	if err := s.commit(tables, in.last, pending[n:]); err != nil {
		if made != nil {
			made.release()
		}
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tables, s.base = tables, in.last
	s.setPending(pending[n:])
	return nil
}

// growth decides which tables are joined. A table stays out of a join if it is growth times as large as all newer
// tables together. So an element is not written again with every join.
const growth = 16

// toJoin returns which tables, of so many elements each, are to be joined: those from the returned one on.
func toJoin(sizes []uint64, most int) (from int, ok bool) {
	if len(sizes) <= most {
		return 0, false
	}
	from = len(sizes) - most
	sum := uint64(0)
	for _, size := range sizes[from:] {
		sum += size
	}
	for from > 0 && sizes[from-1] < growth*sum {
		from--
		sum += sizes[from]
	}
	return from, true
}

// Tidy joins tables, so that look-ups read few, until that is done. It takes some minutes of processor time for a
// thousand million elements; the store is used meanwhile.
//
// Errors: those of ctx, [ErrClosed], [ErrDamaged], those of the file system.
func (s *Store) Tidy(ctx context.Context) error {
	s.tidying.Lock()
	defer s.tidying.Unlock()
	for {
		if more, err := s.join(ctx); err != nil || !more {
			return err
		}
	}
}

// join joins some tables.
func (s *Store) join(ctx context.Context) (more bool, err error) {
	most := s.o.Limits.Runs
	if s.tip.Load() {
		most = s.o.Limits.Tables
	}
	s.mu.RLock()
	closed, epoch, tables := s.closed, s.epoch, s.tables
	var sizes []uint64
	for _, t := range tables {
		sizes = append(sizes, t.heights.Elements())
	}
	from, ok := toJoin(sizes, most)
	if closed || !ok {
		s.mu.RUnlock()
		return false, nil
	}
	old := slices.Clone(tables[from:])
	for _, t := range old {
		t.acquire()
	}
	s.mu.RUnlock()
	defer func() {
		for _, t := range old {
			t.release()
		}
	}()
	in := input{from: heighttable.MaxHeight, last: old[len(old)-1].last}
	for _, t := range old {
		lowest, highest := t.heights.Heights()
		in.sources = append(in.sources, t)
		in.elements += t.heights.Elements()
		in.from, in.to = min(in.from, lowest), max(in.to, highest)
	}
	workers := 1 // look-ups come first
	if len(old) > 2*s.o.Limits.Tables {
		workers = cores.Count() // there are none: the index was just built
	}
	joined, err := s.writeTable(ctx, &in, workers)
	if err != nil {
		return false, err
	}
	return s.replace(from, old, joined, epoch)
}

// replace puts a table in the place of those that it was made of.
func (s *Store) replace(from int, old []*table, joined *table, epoch int) (more bool, err error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.mu.RLock()
	given, base, pending := s.closed || s.epoch != epoch, s.base, s.pending
	tables := slices.Clone(s.tables)
	s.mu.RUnlock()
	if !given {
		tables = slices.Replace(tables, from, from+len(old), joined)
		err = s.commit(tables, base, pending)
	}
	if given || err != nil {
		joined.release()
		if given {
			s.remove(joined.number, tabName)
		}
		return false, err
	}
	s.mu.Lock()
	s.tables = tables
	s.mu.Unlock()
	for _, t := range old {
		t.release()
		s.remove(t.number, tabName)
	}
	return true, nil
}
