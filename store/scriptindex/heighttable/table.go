package heighttable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A Table is an open table. Its methods are safe for concurrent use. Their errors are [ErrDamaged] and those of the
// reader.
type Table struct {
	shape

	r     io.ReaderAt
	head  header
	infos []info
}

// Open opens a table of so many bytes.
func Open(r io.ReaderAt, size int64) (*Table, error) {
	t := &Table{r: r}
	raw, err := t.read(0, headSize, uint64(max(size, 0)))
	if err != nil {
		return nil, err
	}
	if t.head, err = parseHeader(raw); err != nil {
		return nil, err
	}
	h := &t.head
	t.shape = newShape(h.sections, h.from, h.to, h.counts, h.gaps)
	length := uint64(infoSize) << h.sections
	if h.table > uint64(size) || uint64(size)-h.table != length {
		return nil, fmt.Errorf("%w: %d bytes", ErrDamaged, size)
	}
	if raw, err = t.read(h.table, length, uint64(size)); err != nil {
		return nil, err
	}
	if checksum(0, raw) != h.sum {
		return nil, fmt.Errorf("%w: list of sections", ErrDamaged)
	}
	at := uint64(headSize)
	for le := binary.LittleEndian; len(raw) > 0; raw = raw[infoSize:] {
		i := info{le.Uint64(raw), le.Uint32(raw[8:]), le.Uint32(raw[12:]), le.Uint32(raw[16:]), le.Uint32(raw[20:])}
		if i.offset != at || i.keys > i.elements || i.elements > maxSectionTotal {
			return nil, fmt.Errorf("%w: section %d", ErrDamaged, len(t.infos))
		}
		at += t.size(&i)
		t.infos = append(t.infos, i)
	}
	if at != h.table {
		return nil, fmt.Errorf("%w: sections of %d bytes, not %d", ErrDamaged, at, h.table)
	}
	return t, nil
}

// size returns how many bytes a section has.
func (t *Table) size(i *info) uint64 {
	if i.keys == 0 {
		return 0
	}
	return 4*gridOf(t.span(), i.keys).buckets + uint64(i.data) + uint64(i.long)
}

// Label returns what the store said of the table.
func (t *Table) Label() Label { return t.head.label }

// Elements returns the number of elements, Keys that of keys.
func (t *Table) Elements() uint64 { return t.head.elements }

// Keys returns the number of keys.
func (t *Table) Keys() uint64 { return t.head.keys }

// Heights returns the lowest and the highest height that the table may have.
func (t *Table) Heights() (from, to uint32) { return t.from, t.to }

// read reads some bytes of the first limit.
func (t *Table) read(at, n, limit uint64) ([]byte, error) {
	if at > limit || n > limit-at {
		return nil, fmt.Errorf("%w: nothing at byte %d", ErrDamaged, at)
	}
	b := make([]byte, n)
	if _, err := t.r.ReadAt(b, int64(at)); err != nil {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return nil, err
	}
	return b, nil
}

// Find returns the heights of a key, ascending, and their number. More than most heights are not returned.
func (t *Table) Find(key Key, most int) (heights []uint32, n int, err error) {
	section, low := t.split(key & (1<<KeyBits - 1))
	s := t.section(section)
	if s.info.keys == 0 {
		return nil, 0, nil
	}
	bucket := s.grid.bucket(low)
	buckets, err := s.buckets(bucket, bucket+1)
	if err != nil {
		return nil, 0, err
	}
	w := walk{sectionReader: s, bucket: bucket}
	if err := w.begin(buckets[0]); err != nil {
		return nil, 0, err
	}
	for {
		switch ok, err := w.next(); {
		case err != nil:
			return nil, 0, err
		case !ok || w.low > low:
			return nil, 0, nil
		case w.low < low:
		case w.count > most:
			return nil, w.count, nil
		case w.long.length == 0:
			return w.heights, w.count, nil
		default:
			heights, err := w.longHeights(nil)
			return heights, len(heights), err
		}
	}
}

// Read appends the elements with keys from lo on, below hi, in order.
func (t *Table) Read(lo, hi Key, to []Element) ([]Element, error) {
	if hi = min(hi, 1<<KeyBits); lo >= hi {
		return to, nil
	}
	first, _ := t.split(lo)
	last, _ := t.split(hi - 1)
	for section := first; section <= last; section++ {
		s := t.section(section)
		if s.info.keys == 0 {
			continue
		}
		begin := Key(section) << t.span()
		from, until := uint64(0), s.grid.buckets
		if lo > begin {
			from = s.grid.bucket(uint64(lo - begin))
		}
		if end := begin + 1<<t.span(); hi < end {
			until = s.grid.bucket(uint64(hi-1-begin)) + 1
		}
		var err error
		if to, err = s.read(from, until, lo, hi, to); err != nil {
			return nil, err
		}
	}
	return to, nil
}
