package heighttable

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
)

// ErrTooLarge reports elements of more than a section can have, or heights above [MaxHeight].
var ErrTooLarge = errors.New("too much for a table of heights")

// A Section is a part of a table, as it is written.
type Section struct {
	Bytes []byte // directory, buckets, long lists

	info info
}

// info is what is kept of a section beside its bytes.
type info struct {
	offset     uint64
	data, long uint32 // bytes
	keys       uint32
	elements   uint32
}

// An Encoder codes sections of one table. Its methods are safe for concurrent use.
type Encoder struct{ shape }

// NewEncoder returns the encoder of a table that is to have about so many elements, with heights in [from, to].
// The sample decides the codes: the elements of any one section. See [Encoder.Range] of an encoder without it.
func NewEncoder(elements uint64, from, to uint32, sample []Element) (*Encoder, error) {
	if from > to || to > MaxHeight {
		return nil, fmt.Errorf("%w: heights %d to %d", ErrTooLarge, from, to)
	}
	var counts, gaps frequencies
	for group := range groups(sample) {
		if len(group) > longList {
			counts[escape]++
		} else {
			counts[bits.Len(uint(len(group)-1))]++
		}
		for i := range group[1:] {
			gaps[bits.Len32(group[i+1].Height()-group[i].Height()-1)]++
		}
	}
	c, _ := newCode(counts.lengths())
	g, _ := newCode(gaps.lengths())
	return &Encoder{newShape(sectionBits(elements), from, to, c, g)}, nil
}

// Sections returns the number of sections.
func (e *Encoder) Sections() int { return 1 << e.sections }

// Range returns the keys of a section: from lo on, below hi.
func (e *Encoder) Range(section int) (lo, hi Key) {
	return Key(section) << e.span(), Key(section+1) << e.span()
}

// SectionsOf returns how many sections a table has that is to have about so many elements.
func SectionsOf(elements uint64) int { return 1 << sectionBits(elements) }

// RangeOf returns the keys of one of so many sections.
func RangeOf(section, sections int) (lo, hi Key) {
	span := KeyBits - uint(bits.Len(uint(sections)-1))
	return Key(section) << span, Key(section+1) << span
}

// groups visits the elements of each key.
func groups(elements []Element) func(func([]Element) bool) {
	return func(yield func([]Element) bool) {
		for len(elements) > 0 {
			n := 1
			for n < len(elements) && elements[n].Key() == elements[0].Key() {
				n++
			}
			if !yield(elements[:n]) {
				return
			}
			elements = elements[n:]
		}
	}
}

// Encode codes a section. The elements are sorted, distinct, and those of its range.
func (e *Encoder) Encode(section int, elements []Element) (Section, error) {
	if len(elements) == 0 {
		return Section{}, nil
	}
	if len(elements) > maxSectionTotal {
		return Section{}, fmt.Errorf("%w: %d elements of a section", ErrTooLarge, len(elements))
	}
	keys := uint32(0)
	for range groups(elements) {
		keys++
	}
	s := sectionWriter{Encoder: e, section: section, grid: gridOf(e.span(), keys)}
	for rest := elements; s.bucket < s.grid.buckets; s.bucket++ {
		n := 0
		for end := s.grid.start(s.bucket + 1); n < len(rest); n++ {
			if _, low := e.split(rest[n].Key()); low >= end {
				break
			}
		}
		s.addBucket(rest[:n])
		rest = rest[n:]
	}
	if len(s.data) > math.MaxUint32 || len(s.long) > math.MaxUint32 {
		return Section{}, fmt.Errorf("%w: %d elements of a section", ErrTooLarge, len(elements))
	}
	made := Section{Bytes: append(append(s.dir, s.data...), s.long...)}
	made.info = info{
		data: uint32(len(s.data)), long: uint32(len(s.long)), keys: keys, elements: uint32(len(elements)),
	}
	return made, nil
}

// A sectionWriter codes one section.
type sectionWriter struct {
	*Encoder

	section         int
	grid            grid
	bucket          uint64
	dir, data, long []byte
}

// addBucket writes the bucket of some elements, and its end into the directory.
func (s *sectionWriter) addBucket(elements []Element) {
	start := len(s.data)
	keys := uint32(0)
	for range groups(elements) {
		keys++
	}
	w := bitWriter{buf: s.data}
	putNumber(&w, keys)
	next := s.grid.start(s.bucket)
	for group := range groups(elements) {
		_, low := s.split(group[0].Key())
		w.unary((low - next) >> s.grid.rice)
		w.put((low-next)&(1<<s.grid.rice-1), s.grid.rice)
		next = low + 1
		s.heights(&w, group)
	}
	w.end()
	s.data = w.buf
	s.data = binary.LittleEndian.AppendUint32(s.data, checksum(place(s.section, s.bucket), s.data[start:]))
	s.dir = binary.LittleEndian.AppendUint32(s.dir, uint32(len(s.data)))
}

// heights writes the heights of a key, or where they lie.
func (s *sectionWriter) heights(w *bitWriter, group []Element) {
	if len(group) <= longList {
		s.counts.put(w, uint32(len(group)-1))
		s.list(w, group)
		return
	}
	l := bitWriter{buf: s.long}
	start := len(s.long)
	s.list(&l, group)
	l.end()
	s.long = binary.LittleEndian.AppendUint32(l.buf, checksum(uint64(group[0].Key()), l.buf[start:]))
	s.counts.putClass(w, escape)
	w.put(uint64(len(group)-1), heightBits)
	w.put(uint64(start), 32)
	w.put(uint64(len(s.long)-start), 32)
}

func (s *sectionWriter) list(w *bitWriter, group []Element) {
	w.put(uint64(group[0].Height()-s.from), s.heightBits)
	for i := range group[1:] {
		s.gaps.put(w, group[i+1].Height()-group[i].Height()-1)
	}
}

// putNumber writes a number, most often a small one.
func putNumber(w *bitWriter, v uint32) {
	n := uint(bits.Len32(v))
	w.put(uint64(n), 6)
	w.put(uint64(v), n)
}

func takeNumber(r *bitReader) uint32 {
	n := uint(r.take(6))
	if n > 32 {
		r.pos = uint(len(r.b))*8 + 1
		return 0
	}
	return uint32(r.take(n))
}

// A Layout puts the sections of a table one after the other.
type Layout struct {
	encoder  *Encoder
	infos    []info
	at       uint64
	keys     uint64
	elements uint64
}

// NewLayout returns the layout of an encoder's table.
func (e *Encoder) NewLayout() *Layout { return &Layout{encoder: e, at: headSize} }

// Place says where the bytes of the next section begin in the file.
func (l *Layout) Place(s *Section) (offset int64) {
	s.info.offset = l.at
	l.infos = append(l.infos, s.info)
	l.at += uint64(len(s.Bytes))
	l.keys += uint64(s.info.keys)
	l.elements += uint64(s.info.elements)
	return int64(s.info.offset)
}

// Elements returns how many elements the sections have so far.
func (l *Layout) Elements() uint64 { return l.elements }

// End returns what stands before the sections, and behind them from an offset on, when all have their places.
func (l *Layout) End(label Label) (head, tail []byte, offset int64) {
	for _, i := range l.infos {
		tail = binary.LittleEndian.AppendUint64(tail, i.offset)
		for _, n := range []uint32{i.data, i.long, i.keys, i.elements} {
			tail = binary.LittleEndian.AppendUint32(tail, n)
		}
	}
	h := header{
		label: label, sections: l.encoder.sections, from: l.encoder.from, to: l.encoder.to, keys: l.keys,
		elements: l.elements, table: l.at, sum: checksum(0, tail), counts: l.encoder.counts, gaps: l.encoder.gaps,
	}
	return h.append(nil), tail, int64(l.at)
}
