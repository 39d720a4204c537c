package load

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Every duration is in the one bucket whose limits enclose it, and buckets
// follow one another without a gap.
func TestBuckets(t *testing.T) {
	next := time.Duration(0)
	for i := range buckets {
		from, to := limits(i)
		if from != next || to < from {
			t.Fatalf("bucket %d is from %d to %d, want it to begin at %d", i, from, to, next)
		}
		if bucketOf(from) != i || bucketOf(to) != i {
			t.Fatalf("bucket %d: its limits are in %d and %d", i, bucketOf(from), bucketOf(to))
		}
		if width := float64(to - from); width > float64(from)/half {
			t.Fatalf("bucket %d from %d to %d is too wide", i, from, to)
		}
		next = to + 1
	}
	if next != Longest+1 {
		t.Errorf("the buckets end at %d, want %d", next-1, Longest)
	}
}

func durations() *rapid.Generator[time.Duration] {
	return rapid.Custom(func(t *rapid.T) time.Duration {
		// As many short as long ones.
		return time.Duration(rapid.Uint64().Draw(t, "bits") >> rapid.IntRange(15, 63).Draw(t, "shift"))
	})
}

// Quantiles are those of the sorted list, to a bucket's width.
func TestQuantileProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(durations(), 1, 300).Draw(t, "durations")
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		var h Histogram
		for _, d := range list {
			h.Add(d)
		}
		slices.Sort(list)
		want := list[max(int(math.Ceil(q*float64(len(list))))-1, 0)]
		if got := h.Quantile(q); got < want || float64(got) > float64(want)*(1+1./half) {
			t.Errorf("quantile %v is %d, want %d or little more", q, got, want)
		}
		if got := h.Quantile(1); got != list[len(list)-1] || got != h.Max() {
			t.Errorf("longest is %d, want %d", got, list[len(list)-1])
		}
		if h.Count() != uint64(len(list)) {
			t.Errorf("count is %d, want %d", h.Count(), len(list))
		}
	})
}

// Two histograms together are one of everything.
func TestMergeProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a, b, all Histogram
		for _, d := range rapid.SliceOf(durations()).Draw(t, "a") {
			a.Add(d)
			all.Add(d)
		}
		for _, d := range rapid.SliceOf(durations()).Draw(t, "b") {
			b.Add(d)
			all.Add(d)
		}
		a.Merge(&b)
		if !slices.Equal(slices.Collect(a.Buckets()), slices.Collect(all.Buckets())) ||
			a.Count() != all.Count() || a.Max() != all.Max() {
			t.Error("the merged histogram is another")
		}
		if d := a.Mean() - all.Mean(); d < -time.Microsecond || d > time.Microsecond &&
			float64(d) > float64(all.Mean())*1e-9 {
			t.Errorf("mean %d, want %d", a.Mean(), all.Mean())
		}
	})
}

func TestLimits(t *testing.T) {
	var h Histogram
	if h.Quantile(0.5) != 0 || h.Max() != 0 || h.Mean() != 0 {
		t.Error("an empty histogram has durations")
	}
	h.Add(-1)
	h.Add(math.MaxInt64)
	got := slices.Collect(h.Buckets())
	last, _ := limits(buckets - 1)
	want := []Bucket{{0, 0, 1}, {last, Longest, 1}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func BenchmarkAdd(b *testing.B) {
	var h Histogram
	d := time.Microsecond
	for b.Loop() {
		h.Add(d)
		d = d * 3 / 2 & Longest
	}
}
