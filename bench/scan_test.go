package bench

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/seed61375155/trawl/filters"
)

// BenchmarkScan matches filters in memory, checksums included, with every kernel
// and layout, beside btcutil's MatchAny in one goroutine and a plain sum of the
// same bytes in as many. All rows of a number of scripts come from the same rounds.
//
// For many scripts it takes a part of the filters, and for btcutil a smaller one:
// Melt and btcutil-Melt tell of how many elements. Rows of more than one goroutine
// are left out where others had the processors. Rows of the layout auto are left
// out where auto does the same as another layout for all filters: then that
// layout's row has a 1 as auto.
func BenchmarkScan(b *testing.B) {
	for _, k := range slices.Concat(scriptCounts, []int{100_000}) {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) { benchmarkMemory(b, k) })
	}
}

// parts are how many elements suffice for a measurement with up to k scripts,
// and with btcutil.
var parts = []struct{ k, elements, btcutil int }{
	{100, 20_000_000, 10_000_000},
	{1_000, 20_000_000, 2_000_000},
	{10_000, 4_000_000, 500_000},
	{100_000, 1_200_000, 100_000},
}

// part returns the first filters, with so many elements.
func (x *index) part(elements int) *index {
	p := &index{answers: map[string][]bool{}}
	for p.elements < elements && len(p.filters) < len(x.filters) {
		n := len(p.filters)
		p.filters, p.parsed = x.filters[:n+1], x.parsed[:n+1]
		p.elements += int(x.filters[n].N)
		p.bytes += len(x.filters[n].Data)
	}
	return p
}

// A scanRow is a way to scan, to be measured.
type scanRow struct {
	threads int
	kernel  string
	layout  filters.Layout
	auto    bool // it is what the layout auto does
	*contender
}

func benchmarkMemory(b *testing.B, k int) {
	b.Helper()
	progress("scan in memory for %d scripts", k)
	at := slices.IndexFunc(parts, func(p struct{ k, elements, btcutil int }) bool { return k <= p.k })
	x := theIndex().part(parts[at].elements)
	small := x.part(parts[at].btcutil)
	scripts := theChain().Queries(k)
	want := x.answer(b, strconv.Itoa(k), scripts)
	btcutil := small.matchingBtcutil(1, scripts, want[:len(small.filters)])
	sums := map[int]*contender{}
	all := []*contender{btcutil}
	var rows []scanRow
	for _, threads := range threadCounts() {
		sums[threads] = x.summing(threads)
		all = append(all, sums[threads])
		for _, row := range x.rows(k) {
			row.threads, row.contender = threads, x.matchingWith(b, row.kernel, row.layout, threads, scripts, want)
			rows = append(rows, row)
			all = append(all, row.contender)
		}
	}
	measureRounds(b, all)
	for _, row := range rows {
		b.Run(fmt.Sprintf("threads=%d/kernel=%s/layout=%s", row.threads, row.kernel, row.layout), func(b *testing.B) {
			row.skipUnlessAlone(b, row.threads)
			for b.Loop() {
				continue // was measured with the others
			}
			x.report(b, row.contender)
			row.reportRound(b)
			b.ReportMetric(ratio(btcutil.median(), row.median())*float64(x.elements)/float64(small.elements), "x-btcutil")
			b.ReportMetric(100*ratio(sums[row.threads].median(), row.median()), "of-sum-%")
			b.ReportMetric(float64(btcutil.median())/float64(small.elements), "btcutil-ns/elt")
			b.ReportMetric(float64(x.elements)/1e6, "Melt")
			b.ReportMetric(float64(small.elements)/1e6, "btcutil-Melt")
			if row.auto {
				b.ReportMetric(1, "auto")
			}
		})
	}
}

// rows returns each kernel with the layouts to measure for k scripts.
func (x *index) rows(k int) (rows []scanRow) {
	for _, kernel := range filters.KernelNames() {
		probed := 0 // filters of which auto uses the lines
		for i := range x.filters {
			if f := &x.filters[i]; len(f.Lines) > 0 && k <= filters.ProbeLimit(kernel, int(f.N)) {
				probed++
			}
		}
		few := len(x.filters) / 100
		probes, decodes := probed >= len(x.filters)-few, probed <= few
		if k <= 1_000 { // more take longer than to decode, however the rest turns out
			rows = append(rows, scanRow{kernel: kernel, layout: filters.LayoutProbe, auto: probes})
		}
		rows = append(rows, scanRow{kernel: kernel, layout: filters.LayoutPlain, auto: decodes})
		if !probes && !decodes {
			rows = append(rows, scanRow{kernel: kernel, layout: filters.LayoutAuto, auto: true})
		}
	}
	return rows
}

// matchingWith is the node's matcher with one of the kernels and layouts.
func (x *index) matchingWith(
	b *testing.B, kernel string, layout filters.Layout, threads int, scripts [][]byte, want []bool,
) *contender {
	b.Helper()
	by, err := filters.NewMethod(kernel, string(layout))
	if err != nil {
		b.Fatal(err)
	}
	return x.matching(by, threads, scripts, want)
}

// summing adds up all bytes of the filters, as words.
func (x *index) summing(threads int) *contender {
	var sums atomic.Uint64
	return &contender{run: func() error {
		return x.each(threads, func(from, to int) error {
			var sum uint64
			for i := range x.filters[from:to] {
				sum += sumOf(x.filters[from+i].Data)
			}
			sums.Add(sum)
			return nil
		})
	}}
}

func sumOf(data []byte) uint64 {
	var a, b, c, d uint64
	for ; len(data) >= 32; data = data[32:] {
		a += binary.LittleEndian.Uint64(data)
		b += binary.LittleEndian.Uint64(data[8:])
		c += binary.LittleEndian.Uint64(data[16:])
		d += binary.LittleEndian.Uint64(data[24:])
	}
	return a + b + c + d
}
