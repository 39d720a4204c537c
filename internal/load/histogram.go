package load

import (
	"iter"
	"math"
	"math/bits"
	"time"
)

// A histogram counts durations in buckets. They are narrow for short durations and wide
// for long durations, so that percentiles of any size are exact to less than one percent,
// in little memory.
//
// The buckets are linear up to 2^subBits ns, and above that each power of two
// is cut into 2^(subBits-1) equal parts. A [Histogram] is not safe for
// concurrent use; its zero value is empty and ready.

const (
	// subBits makes a bucket at most 1/128 as wide as the durations in it.
	subBits = 8
	half    = 1 << (subBits - 1)

	// Longest is the longest duration that is told from longer ones, about
	// five days.
	Longest time.Duration = 1<<49 - 1
)

// buckets is how many there are up to Longest.
var buckets = bucketOf(Longest) + 1

// Histogram counts durations.
type Histogram struct {
	counts  []uint64 // by bucket; nil when empty
	total   uint64
	sum     float64 // ns
	longest time.Duration
}

// bucketOf returns the number of the bucket for a duration from 0 to Longest.
func bucketOf(d time.Duration) int {
	shift := max(bits.Len64(uint64(d))-subBits, 0)
	return shift*half + int(uint64(d)>>shift)
}

// limits returns the shortest and the longest duration of a bucket.
func limits(bucket int) (from, to time.Duration) {
	shift := max(bucket/half-1, 0)
	from = time.Duration(bucket-shift*half) << shift
	return from, from + 1<<shift - 1
}

// Add counts a duration. Negative ones count as 0, and those beyond [Longest]
// as that.
func (h *Histogram) Add(d time.Duration) {
	d = min(max(d, 0), Longest)
	if h.counts == nil {
		h.counts = make([]uint64, buckets)
	}
	h.counts[bucketOf(d)]++
	h.total++
	h.sum += float64(d)
	h.longest = max(h.longest, d)
}

// Merge adds everything that other has counted.
func (h *Histogram) Merge(other *Histogram) {
	if other.total == 0 {
		return
	}
	if h.counts == nil {
		h.counts = make([]uint64, buckets)
	}
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.total += other.total
	h.sum += other.sum
	h.longest = max(h.longest, other.longest)
}

// Count returns how many durations were counted.
func (h *Histogram) Count() uint64 { return h.total }

// Max returns the longest duration, exactly; 0 when there is none.
func (h *Histogram) Max() time.Duration { return h.longest }

// Mean returns the arithmetic mean, 0 of none.
func (h *Histogram) Mean() time.Duration {
	if h.total == 0 {
		return 0
	}
	return time.Duration(h.sum / float64(h.total))
}

// Quantile returns a duration that at least the fraction q (0 to 1) of all
// durations do not exceed. It is the upper end of the bucket that has the
// smallest such duration, but at most [Histogram.Max]. It is 0 for an empty
// histogram.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank := max(uint64(math.Ceil(q*float64(h.total))), 1)
	var seen uint64
	for i, n := range h.counts {
		if seen += n; seen >= rank {
			_, to := limits(i)
			return min(to, h.longest)
		}
	}
	return h.longest
}

// A Bucket is how many durations lie between two, both included.
type Bucket struct {
	From, To time.Duration
	Count    uint64
}

// Buckets yields the buckets that are not empty, in ascending order.
func (h *Histogram) Buckets() iter.Seq[Bucket] {
	return func(yield func(Bucket) bool) {
		for i, n := range h.counts {
			if n == 0 {
				continue
			}
			from, to := limits(i)
			if !yield(Bucket{from, to, n}) {
				return
			}
		}
	}
}
