package rangefilter

import "math/bits"

const (
	// selectParts is how many parts of a filter hashes are sorted by, so that what
	// looks them up finds the part in the processor's second-level cache. A part of
	// the filter of full blocks has 180 KB.
	selectParts = 64

	// partRoom is how many hashes wait for a part to be looked at: more than it has
	// cache lines.
	partRoom = 4096

	// minStreamed is for how many hashes it pays to read a part once from end to end
	// first, which needs no waiting.
	minStreamed = 1024

	// minSorted is from how many hashes on sorting them pays.
	minSorted = 1 << 16
)

// A Selector looks many hashes up in filters. It holds memory, of up to 3 MB, for one
// goroutine; the zero value has none yet.
type Selector struct {
	hashes  []uint64 // mixed, partRoom for each part
	indices []uint32
	counts  [selectParts]int
	touched uint8 // so that reading ahead is not optimized away
}

// Select appends to dst the indices of those of the hashes, fewer than 2^32, that
// [Filter.Has] reports, in any order.
func (s *Selector) Select(dst []uint32, f *Filter, hashes []uint64) []uint32 {
	if len(hashes) < minSorted {
		for i, hash := range hashes {
			if f.Has(hash) {
				dst = append(dst, uint32(i))
			}
		}
		return dst
	}
	if s.hashes == nil {
		s.hashes, s.indices = make([]uint64, selectParts*partRoom), make([]uint32, selectParts*partRoom)
	}
	seed, starts := f.fuse.Seed, uint64(f.fuse.SegmentCountLength)
	perPlace := selectParts << 32 / starts // parts, in 2^-32, of one place
	for i, hash := range hashes {
		h := mix(hash, seed)
		begin, _ := bits.Mul64(h, starts)
		part := int(begin * perPlace >> 32 % selectParts)
		n := s.counts[part]
		at := part*partRoom + n
		s.hashes[at], s.indices[at] = h, uint32(i)
		if s.counts[part]++; n == partRoom-1 {
			dst = s.look(dst, f, part)
		}
	}
	for part := range selectParts {
		dst = s.look(dst, f, part)
	}
	return dst
}

// look looks at the hashes that wait for a part.
func (s *Selector) look(dst []uint32, f *Filter, part int) []uint32 {
	prints, mask := f.fuse.Fingerprints, f.fuse.SegmentLengthMask
	length, starts := f.fuse.SegmentLength, uint64(f.fuse.SegmentCountLength)
	hashes := s.hashes[part*partRoom:][:s.counts[part]]
	indices := s.indices[part*partRoom:][:len(hashes)]
	s.counts[part] = 0
	if len(hashes) >= minStreamed {
		from := part * int(starts) / selectParts
		s.touched += touch(prints[from:min((part+1)*int(starts)/selectParts+3*int(length), len(prints))])
	}
	for i, h := range hashes {
		begin, _ := bits.Mul64(h, starts)
		first := uint32(begin)
		second := first + length
		third := second + length
		second ^= uint32(h>>18) & mask
		third ^= uint32(h) & mask
		if uint8(h)^uint8(h>>32) == prints[first]^prints[second]^prints[third] {
			dst = append(dst, indices[i])
		}
	}
	return dst
}

// touch reads a byte of each cache line.
func touch(b []byte) (sum uint8) {
	for at := 0; at < len(b); at += 64 {
		sum += b[at]
	}
	return sum
}
