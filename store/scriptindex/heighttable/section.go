package heighttable

import (
	"encoding/binary"
	"fmt"
)

// A sectionReader reads one section.
type sectionReader struct {
	*Table

	section int
	info    *info
	grid    grid
}

func (t *Table) section(n int) sectionReader {
	i := &t.infos[n]
	return sectionReader{t, n, i, gridOf(t.span(), i.keys)}
}

func (s *sectionReader) damaged(bucket uint64) error {
	return fmt.Errorf("%w: bucket %d of section %d", ErrDamaged, bucket, s.section)
}

// buckets reads some buckets. Their bytes were not held against their checksums.
func (s *sectionReader) buckets(from, to uint64) ([][]byte, error) {
	first := max(from, 1) - 1 // the directory has the ends
	data := s.info.offset + 4*s.grid.buckets
	dir, err := s.Table.read(s.info.offset+4*first, 4*(to-first), data)
	if err != nil {
		return nil, err
	}
	ends := make([]uint64, 0, to-first+1)
	if from == 0 {
		ends = append(ends, 0)
	}
	for ; len(dir) > 0; dir = dir[4:] {
		ends = append(ends, uint64(binary.LittleEndian.Uint32(dir)))
	}
	for i := range ends[1:] {
		if ends[i] >= ends[i+1] {
			return nil, s.damaged(from + uint64(i))
		}
	}
	begin, end := ends[0], ends[len(ends)-1]
	if end > uint64(s.info.data) {
		return nil, s.damaged(to - 1)
	}
	raw, err := s.Table.read(data+begin, end-begin, data+uint64(s.info.data))
	if err != nil {
		return nil, err
	}
	list := make([][]byte, len(ends)-1)
	for i := range list {
		list[i] = raw[ends[i]-begin : ends[i+1]-begin]
	}
	return list, nil
}

// read appends the elements of some buckets whose keys are in [lo, hi).
func (s *sectionReader) read(from, until uint64, lo, hi Key, to []Element) ([]Element, error) {
	list, err := s.buckets(from, until)
	if err != nil {
		return nil, err
	}
	w := walk{sectionReader: *s}
	for i, raw := range list {
		w.bucket = from + uint64(i)
		if err := w.begin(raw); err != nil {
			return nil, err
		}
		for {
			ok, err := w.next()
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			key := Key(s.section)<<s.span() | Key(w.low)
			if key < lo || key >= hi {
				continue
			}
			heights := w.heights
			if w.long.length > 0 {
				if heights, err = w.longHeights(w.heights[:0]); err != nil {
					return nil, err
				}
			}
			for _, h := range heights {
				to = append(to, Make(key, h))
			}
		}
	}
	return to, nil
}

// A walk goes over the keys of a bucket.
type walk struct {
	sectionReader

	bucket  uint64
	r       bitReader
	left    uint32 // keys to come
	after   uint64 // the lowest rest that the next key can have
	low     uint64 // of the key
	count   int    // of its heights
	heights []uint32
	long    struct{ offset, length uint64 } // where the heights lie; no length: here
}

// begin begins a bucket.
func (w *walk) begin(raw []byte) error {
	n := len(raw) - 4
	if n < 0 || binary.LittleEndian.Uint32(raw[n:]) != checksum(place(w.section, w.bucket), raw[:n]) {
		return w.damaged(w.bucket)
	}
	w.r, w.after = bitReader{b: raw[:n]}, w.grid.start(w.bucket)
	w.left = takeNumber(&w.r)
	return nil
}

// next goes to the next key; false behind the last.
func (w *walk) next() (ok bool, err error) {
	if w.left == 0 {
		return false, nil
	}
	w.left--
	high := w.r.unary()
	w.low = w.after + high<<w.grid.rice + w.r.take(w.grid.rice)
	w.after = w.low + 1
	if high > 1<<w.span()>>w.grid.rice || w.low >= w.grid.start(w.bucket+1) || w.r.over() {
		return false, w.damaged(w.bucket)
	}
	w.long.length = 0
	class := w.counts.class(&w.r)
	if class == escape {
		w.count = int(w.r.take(heightBits)) + 1
		w.long.offset, w.long.length = w.r.take(32), w.r.take(32)
		if w.r.over() || w.long.length < 4 {
			return false, w.damaged(w.bucket)
		}
		return true, nil
	}
	w.count = int(w.counts.below(&w.r, class)) + 1
	var good bool
	w.heights, good = w.list(&w.r, w.count, w.heights[:0])
	if !good || class > heightBits {
		return false, w.damaged(w.bucket)
	}
	return true, nil
}

// list reads heights.
func (s *shape) list(r *bitReader, count int, to []uint32) (heights []uint32, ok bool) {
	height := uint64(s.from) + r.take(s.heightBits)
	to = append(to, uint32(height))
	for n := 1; n < count && !r.over(); n++ {
		gap, good := s.gaps.take(r)
		if height += uint64(gap) + 1; !good || height > uint64(s.to) {
			return to, false
		}
		to = append(to, uint32(height))
	}
	return to, height <= uint64(s.to) && !r.over()
}

// longHeights reads the heights of the key, which lie elsewhere.
func (w *walk) longHeights(to []uint32) ([]uint32, error) {
	lists := w.info.offset + 4*w.grid.buckets + uint64(w.info.data)
	raw, err := w.Table.read(lists+w.long.offset, w.long.length, lists+uint64(w.info.long))
	if err != nil {
		return nil, err
	}
	n := len(raw) - 4
	key := uint64(w.section)<<w.span() | w.low
	if binary.LittleEndian.Uint32(raw[n:]) != checksum(key, raw[:n]) {
		return nil, w.damaged(w.bucket)
	}
	heights, ok := w.list(&bitReader{b: raw[:n]}, w.count, to)
	if !ok {
		return nil, w.damaged(w.bucket)
	}
	return heights, nil
}
