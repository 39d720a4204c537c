package rangefilter

import "slices"

// buckets is how many parts a collection has, which are sorted one after the other.
const buckets = 256

// A collection is a set of hashes, mixed with a seed. It needs 8 to 12 bytes for each
// that is different.
type collection struct {
	seed uint64
	list [buckets][]uint64 // by the highest byte; repeated hashes among them
	full bool
}

// minBucket is how many hashes a bucket holds before repeated ones are looked for.
const minBucket = 64

func (c *collection) add(hash uint64) {
	h := mix(hash, c.seed)
	list := &c.list[h>>56]
	if len(*list) == cap(*list) {
		*list = grown(*list)
		// Hashes are as good as random, so that no bucket alone has many more
		// than the others.
		c.full = c.full || len(*list) > MaxHashes/buckets*2
	}
	if !c.full {
		*list = append(*list, h)
	}
}

// grown returns a list with room for more: without what repeats and, if that is not
// enough, in more memory.
func grown(list []uint64) []uint64 {
	list = distinct(list)
	if len(list) <= cap(list)*3/4 && cap(list) > 0 {
		return list
	}
	return append(make([]uint64, 0, max(minBucket, cap(list)*3/2)), list...)
}

func distinct(list []uint64) []uint64 {
	slices.Sort(list)
	return slices.Compact(list)
}

// count returns how many different hashes there are; ok is false when they are too
// many. Nothing can be added after it.
func (c *collection) count() (n int, ok bool) {
	for i := range c.list {
		c.list[i] = distinct(c.list[i])
		n += len(c.list[i])
	}
	return n, !c.full && n <= MaxHashes
}
