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

// minBucket and maxBucket are how many hashes a bucket has room for at first and at
// last. Hashes are as good as random: with MaxHashes none has a sixteenth more than
// its part of them, which is tooFull.
const (
	minBucket = 64
	tooFull   = MaxHashes / buckets * 17 / 16
	maxBucket = MaxHashes / buckets * 9 / 8
)

func (c *collection) add(hash uint64) {
	if c.full {
		return
	}
	h := mix(hash, c.seed)
	list := &c.list[h>>56]
	if len(*list) == cap(*list) {
		*list = grown(*list)
		c.full = len(*list) > tooFull
	}
	*list = append(*list, h)
}

// grown returns a list with room for more: without what repeats and, if that is not
// enough, in more memory, as long as it may have more.
func grown(list []uint64) []uint64 {
	list = distinct(list)
	room := min(max(minBucket, cap(list)*3/2), maxBucket)
	if room == cap(list) || len(list) < cap(list)*3/4 {
		return list
	}
	return append(make([]uint64, 0, room), list...)
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
