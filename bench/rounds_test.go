package bench

import (
	"math"
	"slices"
	"testing"
	"time"
)

// A contender is one of those that a benchmark measures in turn.
type contender struct {
	run  func() error
	wall []time.Duration // of each round
	cpu  time.Duration   // of this process, all rounds together
}

// compete lets all run once a round. The first of them is whose time the
// benchmark reports.
func compete(b *testing.B, all ...*contender) {
	b.Helper()
	for _, c := range all { // to grow scratch memory and to warm caches
		if err := c.run(); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		for _, c := range all {
			if err := c.measure(); err != nil {
				b.Fatal(err)
			}
		}
	}
	first := all[0]
	b.ReportMetric(float64(first.median()), "ns/op")
	b.ReportMetric(milliseconds(first.best()), "best-ms")
	b.ReportMetric(100*float64(slices.Max(first.wall)-first.best())/float64(first.median()), "spread-%")
	if first.cpu > 0 {
		b.ReportMetric(milliseconds(first.cpu)/float64(len(first.wall)), "cpu-ms")
		b.ReportMetric(ratio(first.cpu, total(first.wall)), "cpu/wall")
	}
	reportLoad(b)
}

// reportLoad tells how busy the machine was, this benchmark included.
func reportLoad(b *testing.B) {
	b.Helper()
	if load, ok := loadAverage(); ok {
		b.ReportMetric(load, "load")
	}
}

func (c *contender) measure() error {
	cpu, began := cpuTime(), time.Now()
	err := c.run()
	c.wall = append(c.wall, time.Since(began))
	c.cpu += cpuTime() - cpu
	return err
}

func (c *contender) median() time.Duration { return median(c.wall) }

// best is the fastest round: of a machine with other work, the one that was
// disturbed least.
func (c *contender) best() time.Duration { return slices.Min(c.wall) }

// reportRatio tells how many times as fast c is as its rival, by the medians and
// by the fastest rounds.
func (c *contender) reportRatio(b *testing.B, rival *contender, unit string) {
	b.Helper()
	b.ReportMetric(ratio(rival.median(), c.median()), unit)
	b.ReportMetric(ratio(rival.best(), c.best()), unit+"-best")
}

// median returns the middle one, of an even number the mean of the two.
func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

func total(times []time.Duration) (sum time.Duration) {
	for _, t := range times {
		sum += t
	}
	return sum
}

// quantile returns the smallest of the times that at least the fraction q of
// them does not exceed.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[max(int(math.Ceil(q*float64(len(sorted))))-1, 0)]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// ratio tells how many times as long a takes as b.
func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func TestQuantiles(t *testing.T) {
	for _, test := range []struct {
		times            []time.Duration
		median, p50, p99 time.Duration
	}{
		{[]time.Duration{7}, 7, 7, 7},
		{[]time.Duration{1, 4}, 2, 1, 4},
		{[]time.Duration{1, 2, 9}, 2, 2, 9},
		{[]time.Duration{1, 2, 4, 9}, 3, 2, 9},
	} {
		if got := median(test.times); got != test.median {
			t.Errorf("median(%v) = %v, want %v", test.times, got, test.median)
		}
		if p50, p99 := quantile(test.times, 0.5), quantile(test.times, 0.99); p50 != test.p50 || p99 != test.p99 {
			t.Errorf("quantiles of %v: %v and %v, want %v and %v", test.times, p50, p99, test.p50, test.p99)
		}
	}
}
