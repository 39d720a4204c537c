package bench

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A contender is one of those that a benchmark measures in turn.
type contender struct {
	run    func() error
	before func() error    // of each call, if not nil; its time is not counted
	calls  int             // of run in each round, of which it has the mean; 0 is 1
	cold   bool            // it is known that the first round is not slower
	wall   []time.Duration // of each round
	cpu    time.Duration   // of this process, all rounds together
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
	calls := max(c.calls, 1)
	if c.before != nil {
		return c.measureApart(calls)
	}
	cpu, began := cpuTime(), time.Now()
	for range calls {
		if err := c.run(); err != nil {
			return err
		}
	}
	c.wall = append(c.wall, time.Since(began)/time.Duration(calls))
	c.cpu += (cpuTime() - cpu) / time.Duration(calls)
	return nil
}

// measureApart measures calls that have something else before each.
func (c *contender) measureApart(calls int) error {
	var wall, used time.Duration
	for range calls {
		if err := c.before(); err != nil {
			return err
		}
		cpu, began := cpuTime(), time.Now()
		if err := c.run(); err != nil {
			return err
		}
		wall += time.Since(began)
		used += cpuTime() - cpu
	}
	c.wall = append(c.wall, wall/time.Duration(calls))
	c.cpu += used / time.Duration(calls)
	return nil
}

const (
	// roundTime is about how long a contender of measureRounds runs in a round,
	// unless one call takes longer.
	roundTime = 20 * time.Millisecond

	// maxCalls bounds the calls that a contender makes in a round.
	maxCalls = 100
)

// measureRounds measures contenders in turn, for as many rounds as the flag
// -benchtime says.
func measureRounds(b *testing.B, all []*contender) {
	b.Helper()
	for _, c := range all {
		if c.cold || c.before != nil {
			continue
		}
		began := time.Now()
		if err := c.run(); err != nil {
			b.Fatal(err)
		}
		c.calls = int(min(roundTime/max(time.Since(began), 1)+1, maxCalls))
	}
	for range rounds() {
		for _, c := range all {
			if err := c.measure(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// rounds is N of -benchtime=Nx; of a time it is 3.
func rounds() int {
	text, _ := strings.CutSuffix(flag.Lookup("test.benchtime").Value.String(), "x")
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return 3
}

// skipUnlessAlone skips a benchmark of several goroutines where others had the
// processors, or one goroutine had more to do than the others.
func (c *contender) skipUnlessAlone(b *testing.B, threads int) {
	b.Helper()
	if cores := ratio(c.cpu, total(c.wall)); threads > 1 && c.cpu > 0 && cores < 0.9*float64(threads) {
		b.Skipf("had %.2f of %d processors", cores, threads)
	}
}

// reportRound reports what the rounds of measureRounds were like.
func (c *contender) reportRound(b *testing.B) {
	b.Helper()
	b.ReportMetric(float64(c.median()), "ns/op")
	b.ReportMetric(100*float64(slices.Max(c.wall)-c.best())/float64(c.median()), "spread-%")
	if c.cpu > 0 {
		b.ReportMetric(ratio(c.cpu, total(c.wall)), "cpu/wall")
	}
	reportLoad(b)
}

var processStart = time.Now()

// progress prints the next measurement and the time so far.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%6.1f s  %s\n", time.Since(processStart).Seconds(), fmt.Sprintf(format, args...))
}

func (c *contender) median() time.Duration { return median(c.wall) }

// best is the fastest round: on a machine with other work, the least disturbed
// round.
func (c *contender) best() time.Duration { return slices.Min(c.wall) }

// reportRatio tells how many times as fast c is as its rival, by the medians and
// by the fastest rounds.
func (c *contender) reportRatio(b *testing.B, rival *contender, unit string) {
	b.Helper()
	b.ReportMetric(ratio(rival.median(), c.median()), unit)
	b.ReportMetric(ratio(rival.best(), c.best()), unit+"-best")
}

// median returns the middle one, of an even number the mean of the two.
func median[T time.Duration | float64](times []T) T {
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
