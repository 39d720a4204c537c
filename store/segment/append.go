package segment

import (
	"fmt"
	"hash/crc32"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// Append stores the filters of entries, in their order, and hands them to the
// operating system. Blocks whose filters are stored are passed over. All of a
// batch is stored or, after a crash, a part from its beginning that is not
// seen. The entries stay the caller's.
//
// Errors: [ErrInvalid] for an entry whose filter does not have its hash or is
// empty or longer than 32 MiB, with nothing stored; [ErrClosed], [ErrFailed].
func (s *Store) Append(entries []Entry) error {
	s.write.Lock()
	defer s.write.Unlock()
	fresh, err := s.fresh(entries)
	if err != nil || len(fresh) == 0 {
		return err
	}
	return s.writing(func() error { return s.append(fresh) })
}

// fresh checks entries and returns those whose blocks are not stored.
func (s *Store) fresh(entries []Entry) ([]Entry, error) {
	fresh := make([]Entry, 0, len(entries))
	seen := make(map[chainhash.Hash]struct{}, len(entries))
	for i := range entries {
		e := &entries[i]
		_, repeated := seen[e.Block]
		if _, stored := s.catalog.find(&e.Block); stored || repeated {
			continue
		}
		if err := e.check(); err != nil {
			return nil, err
		}
		seen[e.Block] = struct{}{}
		fresh = append(fresh, *e)
	}
	return fresh, nil
}

func (e *Entry) check() error {
	switch {
	case e.Height < 0:
		return fmt.Errorf("%w: height %d of block %v", ErrInvalid, e.Height, e.Block)
	case len(e.Filter) == 0 || len(e.Filter) > maxFilter:
		return fmt.Errorf("%w: filter of block %v has %d bytes", ErrInvalid, e.Block, len(e.Filter))
	case chainhash.DoubleHashH(e.Filter) != e.FilterHash:
		return fmt.Errorf("%w: filter of block %v does not have its hash", ErrInvalid, e.Block)
	}
	return nil
}

// append writes filters, then records, then shows both to the readers.
func (s *Store) append(entries []Entry) error {
	s.dirty = true
	records, regions, err := s.writeFilters(entries)
	if err == nil {
		err = s.keys.put(records)
	}
	if err != nil {
		for _, r := range regions {
			r.release()
		}
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.regions = append(s.regions, regions...)
	for i := range records {
		s.catalog.add(&records[i])
	}
	return nil
}

// writeFilters writes filters to the last segment and to new ones, whose
// regions it returns, on an error too.
func (s *Store) writeFilters(entries []Entry) (records []record, regions []*region, err error) {
	for len(entries) > 0 {
		run := s.run(entries)
		if run == 0 {
			r, err := s.startSegment(len(entries[0].Filter))
			if err != nil {
				return nil, regions, err
			}
			regions = append(regions, r)
			continue
		}
		records = appendRecords(records, s.tail, entries[:run])
		if err := s.tail.write(entries[:run]); err != nil {
			return nil, regions, err
		}
		entries = entries[run:]
	}
	return records, regions, nil
}

// run returns how many of the entries the tail has room for.
func (s *Store) run(entries []Entry) int {
	size := 0
	for i := range entries {
		if !s.tail.fits(size, len(entries[i].Filter)) {
			return i
		}
		size += len(entries[i].Filter)
	}
	return len(entries)
}

// appendRecords appends the records of entries that come next in the tail.
func appendRecords(records []record, t *tail, entries []Entry) []record {
	at := position{t.number, uint32(t.end)}
	for i := range entries {
		e := &entries[i]
		records = append(records, record{
			position: at,
			block:    e.Block, prev: e.Prev,
			filterHash: e.FilterHash, header: e.Header,
			height: e.Height,
			length: uint32(len(e.Filter)),
			crc:    crc32.ChecksumIEEE(e.Filter),
		})
		at.offset += uint32(len(e.Filter))
	}
	return records
}

// startSegment begins the next segment, with room for at least one filter of
// the given length.
func (s *Store) startSegment(length int) (*region, error) {
	number := s.nextSegment()
	s.seal()
	capacity := max(s.segmentSize, headerSize+int64(length)+padding)
	t, err := createTail(s.fs, s.dir, number, capacity)
	if err != nil {
		return nil, fmt.Errorf("start filter segment %d: %w", number, err)
	}
	s.tail = t
	return newRegion(s.fs, s.dir, number, capacity), nil
}

// nextSegment returns the number of the next segment. The tail may be ahead
// of the catalog by segments that the current batch began.
func (s *Store) nextSegment() uint32 {
	if s.tail != nil {
		return s.tail.number + 1
	}
	if last := s.catalog.last(); last != nil {
		return last.number + 1
	}
	return 0
}
