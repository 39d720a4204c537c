package bench

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/synth"
)

// BenchmarkModes finds, for filters of n elements, the number of scripts from
// which on decoding them is faster than probe lines, and compares it with what
// each kernel takes it for. Filters are as many as no near cache holds; times are
// of the processor, in one goroutine. The benchmark of the same name in package
// filters compares the ways to look scripts up among decoded elements.
func BenchmarkModes(b *testing.B) {
	for _, n := range []int{20, 100, 500, 2_000, 5_000, 10_000} {
		progress("probe lines against decoding of %d elements", n)
		x := randomIndex(2_000_000/n, n)
		for _, kernel := range filters.KernelNames() {
			b.Run(fmt.Sprintf("ways=probe,decode/kernel=%s/n=%d", kernel, n), func(b *testing.B) {
				cross := x.crossing(b, kernel, n)
				for b.Loop() {
					continue // was measured, round by round
				}
				b.ReportMetric(float64(cross), "k-cross")
				b.ReportMetric(float64(filters.ProbeLimit(kernel, n)), "k-model")
				reportLoad(b)
			})
		}
	}
}

// BenchmarkLayout measures the cost of the ways to index filters while their
// bytes can still be served. For probe lines beside a filter it is in bits and
// time for each element. A layout in the place of filters would have to make a
// filter of its elements again for each request of a peer: that time is measured
// too.
func BenchmarkLayout(b *testing.B) {
	for _, n := range []int{100, 2_000, 5_000} {
		x := randomIndex(1_000_000/n, n)
		values := make([][]uint64, len(x.filters))
		lines := 0
		for i := range x.filters {
			lines += len(x.filters[i].Lines)
			var err error
			if values[i], err = filters.Decode(x.filters[i].Data); err != nil {
				b.Fatal(err)
			}
		}
		bits := func(bytes int) float64 { return float64(8*bytes) / float64(x.elements) }
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			var dst []byte
			lay := &contender{run: func() error {
				for i := range x.filters {
					var err error
					if dst, _, err = filters.AppendLines(dst[:0], &x.filters[i].Block, x.filters[i].Data); err != nil {
						return err
					}
				}
				return nil
			}}
			remake := &contender{run: func() error {
				for i := range values {
					if !bytes.Equal(filters.Encode(values[i]), x.filters[i].Data) {
						return errWrongAnswer
					}
				}
				return nil
			}}
			compete(b, lay, remake)
			b.ReportMetric(bits(x.bytes), "filter-bits/elt")
			b.ReportMetric(bits(lines), "lines-bits/elt")
			b.ReportMetric(float64(lay.median())/float64(x.elements), "lay-ns/elt")
			b.ReportMetric(float64(remake.median())/float64(x.elements), "remake-ns/elt")
		})
	}
}

// crossing returns about up to how many scripts lines are faster.
func (x *index) crossing(b *testing.B, kernel string, n int) int {
	b.Helper()
	return synth.FindCrossing(n, func(k int) bool {
		scripts := theChain().Queries(k)
		var all []*contender
		for _, layout := range filters.Layouts[1:] {
			all = append(all, x.matchingWith(b, kernel, layout, 1, scripts, nil))
		}
		measureRounds(b, all)
		return all[0].took() < all[1].took()
	})
}

// took is the processor time, which other work disturbs less than the elapsed
// time. If the processor time is unknown, it is the time of the best round.
func (c *contender) took() time.Duration {
	if c.cpu > 0 {
		return c.cpu
	}
	return c.best()
}

// randomIndex returns filters of n random elements.
func randomIndex(blocks, n int) *index {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	x := &index{}
	values := make([]uint64, n)
	for range blocks {
		for i := range values {
			values[i] = rng.Uint64N(uint64(n) * filters.M)
		}
		slices.Sort(values)
		var hash [8]byte
		for i := range hash {
			hash[i] = byte(rng.Uint32())
		}
		f := filters.Filter{Block: chainhash.HashH(hash[:]), Data: filters.Encode(values), Unsure: true}
		f.Sum = crc32.ChecksumIEEE(f.Data)
		f.Lines, f.N, _ = filters.AppendLines(nil, &f.Block, f.Data)
		f.LinesSum = crc32.ChecksumIEEE(f.Lines)
		x.filters = append(x.filters, f)
		x.elements += n
		x.bytes += len(f.Data)
	}
	return x
}
