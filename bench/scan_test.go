package bench

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed61375155/trawl/filters"
)

// BenchmarkScan matches filters in memory, checksums included, with every kernel
// and layout, beside btcutil's MatchAny in one goroutine and a plain sum of the
// filters' bytes in as many. All rows of a table come from the same rounds.
//
// For 10,000 scripts and more it takes a part of the filters, as btcutil needs
// seconds for all. Rows of more than one goroutine are left out where others had
// the processors.
func BenchmarkScan(b *testing.B) {
	x := theIndex()
	for _, threads := range threadCounts() {
		for _, k := range slices.Concat(scriptCounts, []int{100_000}) {
			b.Run(fmt.Sprintf("threads=%d/k=%d", threads, k), func(b *testing.B) {
				x.part(k).benchmarkScan(b, threads, k)
			})
		}
	}
}

// part returns as many of the filters as are enough to look for k scripts in.
func (x *index) part(k int) *index {
	n := len(x.filters)
	switch {
	case k > 10_000:
		n = max(n/40, 1)
	case k > 1_000:
		n = max(n/4, 1)
	}
	p := &index{filters: x.filters[:n], parsed: x.parsed[:n], answers: map[string][]bool{}}
	for i := range p.filters {
		p.elements += int(p.parsed[i].N())
		p.bytes += len(p.filters[i].Data)
	}
	return p
}

// A scanRow is a kernel and a layout to measure.
type scanRow struct {
	kernel string
	layout filters.Layout
	*contender
}

func (x *index) benchmarkScan(b *testing.B, threads, k int) {
	b.Helper()
	scripts := theChain().Queries(k)
	want := x.answer(b, strconv.Itoa(k), scripts)
	btcutil := x.matchingBtcutil(1, scripts, want)
	sum := x.summing(threads)
	all := []*contender{btcutil, sum}
	var rows []scanRow
	for _, kernel := range filters.KernelNames() {
		for _, layout := range filters.Layouts {
			if layout == filters.LayoutProbe && k > 1_000 {
				continue // takes longer than to decode, however the rest turns out
			}
			row := scanRow{kernel, layout, x.matchingWith(b, kernel, layout, threads, scripts, want)}
			rows = append(rows, row)
			all = append(all, row.contender)
		}
	}
	measureRounds(b, all)
	for _, row := range rows {
		b.Run(fmt.Sprintf("kernel=%s/layout=%s", row.kernel, row.layout), func(b *testing.B) {
			cores := ratio(row.cpu, total(row.wall))
			if threads > 1 && cores < 0.9*float64(threads) {
				b.Skipf("had %.2f of %d processors", cores, threads)
			}
			for b.Loop() {
				continue // was measured with the others
			}
			b.ReportMetric(float64(row.median()), "ns/op")
			x.report(b, row.contender)
			b.ReportMetric(100*float64(slices.Max(row.wall)-row.best())/float64(row.median()), "spread-%")
			b.ReportMetric(cores, "cpu/wall")
			row.reportRatio(b, btcutil, "x-btcutil")
			b.ReportMetric(100*ratio(sum.median(), row.median()), "of-sum-%")
			reportLoad(b)
		})
	}
}

// measureRounds measures contenders in turn, for as many rounds as the flag
// -benchtime says.
func measureRounds(b *testing.B, all []*contender) {
	b.Helper()
	for _, c := range all {
		if err := c.run(); err != nil {
			b.Fatal(err)
		}
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

// matchingWith is the node's matcher with one of the kernels and layouts.
func (x *index) matchingWith(b *testing.B, kernel string, layout filters.Layout, threads int, scripts [][]byte, want []bool) *contender {
	b.Helper()
	before := filters.KernelName()
	defer filters.SetKernel(before)
	defer filters.SetLayout(string(filters.LayoutAuto))
	if err := errors.Join(filters.SetKernel(kernel), filters.SetLayout(string(layout))); err != nil {
		b.Fatal(err)
	}
	return x.matching(threads, scripts, want)
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
