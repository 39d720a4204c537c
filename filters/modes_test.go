package filters_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/synth"
)

// BenchmarkModes finds the number of scripts from which on testing them on a
// bitmap of n decoded elements is faster than looking each up. It reports the
// number that each kernel assumes beside it. There are twice as many filters as
// are decoded side by side; the time is the fastest of some runs.
func BenchmarkModes(b *testing.B) {
	for _, n := range []int{20, 200, 2_000, 5_000, 8_000} {
		batch := benchBatch(64, n, n)
		for _, kernel := range filters.KernelNames() {
			b.Run(fmt.Sprintf("ways=search,bitmap/kernel=%s/n=%d", kernel, n), func(b *testing.B) {
				useKernel(b, kernel)
				limit := 4*n + 300
				model := 0
				for k := 1; k < limit && filters.Searches(kernel, len(batch), n, k); k++ {
					model = k
				}
				cross := synth.FindCrossing(limit, func(k int) bool {
					query := filters.NewQuery(randomScripts(newRand(uint64(k)), k, usualKinds))
					return modeTime(b, batch, query, true) < modeTime(b, batch, query, false)
				})
				for b.Loop() {
					continue // was measured
				}
				b.ReportMetric(float64(cross), "k-cross")
				b.ReportMetric(float64(model), "k-model")
			})
		}
	}
}

// modeTime returns the least time of matching a batch one of the ways.
func modeTime(b *testing.B, batch []filters.Filter, query *filters.Query, search bool) time.Duration {
	b.Helper()
	m := newMatcher(query)
	m.ForceMode(search)
	hits := make([]bool, len(batch))
	least := time.Duration(math.MaxInt64)
	for began, runs := time.Now(), 0; runs < 5 || time.Since(began) < 10*time.Millisecond; runs++ {
		start := time.Now()
		if err := m.Match(batch, hits); err != nil {
			b.Fatal(err)
		}
		least = min(least, time.Since(start))
	}
	return least
}
