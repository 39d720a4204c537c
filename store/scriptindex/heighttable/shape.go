package heighttable

import "math/bits"

const (
	// bucketKeys is how many keys a bucket has on average. A look-up decodes a bucket.
	bucketKeys = 128

	// longList is how many heights of a key lie in its bucket at most. More would be read by all look-ups there.
	longList = 200

	// sectionElements is how many elements a section has at most, if keys are random. Writing needs the memory of
	// some sections, 16 bytes for each of their elements.
	sectionElements = 1 << 21

	maxSectionBits  = 20
	maxSectionTotal = 1 << 28 // elements of a section whose keys are not random
)

// A shape is what the sections of a table have in common.
type shape struct {
	sections   uint // bits of a key that name its section
	from, to   uint32
	heightBits uint // of a height above from
	counts     *code
	gaps       *code
}

// sectionBits returns how many bits name the sections of a table of so many elements.
func sectionBits(elements uint64) uint {
	n := uint(0)
	for n < maxSectionBits && elements>>n > sectionElements {
		n++
	}
	return n
}

func newShape(sections uint, from, to uint32, counts, gaps *code) shape {
	return shape{sections, from, to, uint(bits.Len32(to - from)), counts, gaps}
}

// span is how many bits of a key tell keys of a section apart.
func (s *shape) span() uint { return KeyBits - s.sections }

// split returns a key's section and the rest of the key.
func (s *shape) split(key Key) (section int, low uint64) {
	return int(key >> s.span()), uint64(key) & (1<<s.span() - 1)
}

// A grid says how the keys of a section lie in buckets of equal width.
type grid struct {
	span    uint
	buckets uint64
	rice    uint // bits of the difference of two keys that are written as they are
}

// gridOf returns the grid of a section that has so many keys.
func gridOf(span uint, keys uint32) grid {
	g := grid{span: span, buckets: max(1, uint64(keys)/bucketKeys)}
	if mean := (uint64(1) << span) / max(1, uint64(keys)) * 69 / 100; mean > 1 {
		g.rice = uint(bits.Len64(mean)) - 1
		if 3<<g.rice < 2*mean {
			g.rice++
		}
	}
	return g
}

// bucket returns the bucket of a key's rest.
func (g grid) bucket(low uint64) uint64 { return low * g.buckets >> g.span }

// start returns the lowest rest that is in a bucket, or behind the buckets before.
func (g grid) start(bucket uint64) uint64 { return (bucket<<g.span + g.buckets - 1) / g.buckets }

// place names a bucket among those of its table.
func place(section int, bucket uint64) uint64 { return uint64(section)<<32 | bucket }
