package filters_test

import (
	"fmt"
	"hash/crc32"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/seed61375155/trawl/filters"
)

// BenchmarkProbe matches many filters, more than a cache holds, with each kernel
// and layout.
func BenchmarkProbe(b *testing.B) {
	for _, n := range []int{2_000, 5_000} {
		batch := benchIndex(20_000_000/n, n)
		for _, k := range []int{1, 3, 10, 16, 30, 100, 300, 1_000} {
			query := filters.NewQuery(randomScripts(newRand(uint64(k)), k, usualKinds))
			for _, kernel := range filters.KernelNames() {
				for _, layout := range filters.Layouts[1:] {
					b.Run(fmt.Sprintf("n=%d/k=%d/%s/%s", n, k, kernel, layout), func(b *testing.B) {
						useKernel(b, kernel)
						useLayout(b, layout)
						benchProbe(b, batch, newMatcher(query))
					})
				}
			}
		}
	}
}

// benchIndex returns filters of n random elements with their lines, which lie in
// memory as a store has them.
func benchIndex(blocks, n int) []filters.Filter {
	rng := newRand(uint64(n))
	batch := make([]filters.Filter, blocks)
	var all, lines []byte
	values := make([]uint64, n)
	for i := range batch {
		for j := range values {
			values[j] = rng.Uint64N(uint64(n) * filters.M)
		}
		slices.Sort(values)
		f := &batch[i]
		f.Block = randomHash(rng)
		f.Data = filters.Encode(values)
		f.Unsure, f.Sum = true, crc32.ChecksumIEEE(f.Data)
		start := len(lines)
		lines, f.N, _ = filters.AppendLines(lines, &f.Block, f.Data)
		f.LinesSum = crc32.ChecksumIEEE(lines[start:])
		all = append(all, f.Data...)
	}
	all = append(all, make([]byte, 64)...)
	for i := range batch {
		f := &batch[i]
		size := len(f.Data)
		f.Data, all = all[:size:size+64], all[size:]
		f.Lines, lines = lines[:filters.LinesSize(f.N)], lines[filters.LinesSize(f.N):]
	}
	return batch
}

func benchProbe(b *testing.B, batch []filters.Filter, m *filters.Matcher) {
	b.Helper()
	hits := make([]bool, 512)
	elements := 0
	for i := range batch {
		elements += int(batch[i].N)
	}
	var u0, u1 syscall.Rusage
	syscall.Getrusage(0, &u0)
	for b.Loop() {
		for at := 0; at < len(batch); at += len(hits) {
			part := batch[at:min(at+len(hits), len(batch))]
			if err := m.Match(part, hits[:len(part)]); err != nil {
				b.Fatal(err)
			}
		}
	}
	syscall.Getrusage(0, &u1)
	cpu := time.Duration(u1.Utime.Nano() - u0.Utime.Nano())
	b.ReportMetric(float64(cpu)/float64(b.N)/float64(elements), "ns/elt")
	b.ReportMetric(float64(cpu)/float64(b.N)/float64(len(batch)), "ns/filter")
}
