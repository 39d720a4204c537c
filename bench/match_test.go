package bench

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/btcsuite/btcd/btcutil/gcs"

	"github.com/seed61375155/trawl/filters"
)

// BenchmarkMatch matches all filters of the chain, in memory, against k scripts.
// Preparing the query and btcutil's reading of the filters are not counted.
// btcutil runs with one goroutine, which is how it comes, and with as many as
// the node's matcher.
func BenchmarkMatch(b *testing.B) {
	x := theIndex()
	for _, threads := range threadCounts() {
		for _, k := range scriptCounts {
			b.Run(fmt.Sprintf("threads=%d/k=%d", threads, k), func(b *testing.B) {
				benchmarkMatch(b, x, threads, k)
			})
		}
	}
}

func benchmarkMatch(b *testing.B, x *index, threads, k int) {
	b.Helper()
	scripts := theChain().Queries(k)
	want := x.answer(b, strconv.Itoa(k), scripts)
	ours := x.matching(method(b), threads, scripts, want)
	single := x.matchingBtcutil(1, scripts, want)
	all := []*contender{ours, single}
	if threads > 1 {
		all = append(all, x.matchingBtcutil(threads, scripts, want))
	}
	compete(b, all...)
	x.report(b, ours)
	b.ReportMetric(float64(single.median())/float64(x.elements), "btcutil-ns/elt")
	ours.reportRatio(b, single, "x-btcutil")
	if ours.cpu > 0 {
		b.ReportMetric(ratio(single.cpu, ours.cpu), "x-btcutil-cpu")
	}
	if threads > 1 {
		ours.reportRatio(b, all[2], "x-btcutil-threads")
	}
}

// report reports how fast a contender reads filters.
func (x *index) report(b *testing.B, c *contender) {
	b.Helper()
	b.ReportMetric(float64(c.median())/float64(x.elements), "ns/elt")
	b.ReportMetric(float64(x.bytes)/float64(c.median()), "GB/s")
}

// matching is the node's matcher.
func (x *index) matching(by filters.Method, threads int, scripts [][]byte, want []bool) *contender {
	query := filters.NewQuery(scripts)
	matchers := make(chan *filters.Matcher, threads)
	for range threads {
		matchers <- by.NewMatcher(query)
	}
	hits := make([]bool, len(x.filters))
	return &contender{run: func() error {
		err := x.eachWith(threads, func() func(int, int) error {
			m := <-matchers
			matchers <- m // for the next round
			return func(from, to int) error { return m.Match(x.filters[from:to], hits[from:to]) }
		})
		return verified(err, hits, want)
	}}
}

// matchingBtcutil is btcutil's MatchAny, which picks the faster of its two ways.
func (x *index) matchingBtcutil(threads int, scripts [][]byte, want []bool) *contender {
	hits := make([]bool, len(x.filters))
	return &contender{run: func() error {
		err := x.each(threads, func(from, to int) error {
			return x.btcutil((*gcs.Filter).MatchAny, scripts, from, hits[from:to])
		})
		return verified(err, hits, want)
	}}
}

// verified compares an answer with the oracle's, if it was asked.
func verified(err error, hits, want []bool) error {
	if err != nil {
		return err
	}
	if want != nil && !slices.Equal(hits, want) {
		return errWrongAnswer
	}
	return nil
}
