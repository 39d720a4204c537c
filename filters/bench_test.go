package filters_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/btcsuite/btcd/btcutil/gcs"
	"github.com/btcsuite/btcd/btcutil/gcs/builder"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
)

// BenchmarkMatch matches filters of n elements against k scripts that they do
// not hold, as nearly every step of a scan does. It runs with each kernel and
// in the same run with btcutil's gcs. The unit ns/elt is time for each element
// of the filters.
func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{2_000, 5_000} {
		batch := benchBatch(128, n, n)
		for _, k := range []int{1, 10, 100, 1_000, 10_000} {
			benchKernels(b, fmt.Sprintf("n=%d/k=%d", n, k), batch, k)
		}
	}
}

// BenchmarkMatchSizes matches filters of different sizes, as chains have: of
// full blocks, and of the few transactions of the first years.
func BenchmarkMatchSizes(b *testing.B) {
	for _, sizes := range [][2]int{{1_500, 8_500}, {1, 4}, {10, 200}} {
		batch := benchBatch(512, sizes[0], sizes[1])
		for _, k := range []int{1, 100, 1_000} {
			benchKernels(b, fmt.Sprintf("n=%d-%d/k=%d", sizes[0], sizes[1], k), batch, k)
		}
	}
}

// benchKernels matches a batch with each kernel and with btcutil.
func benchKernels(b *testing.B, name string, batch []filters.Filter, k int) {
	b.Helper()
	scripts := randomScripts(newRand(uint64(k)), k, usualKinds)
	for _, kernel := range filters.KernelNames() {
		b.Run(name+"/"+kernel, func(b *testing.B) {
			useKernel(b, kernel)
			benchMatch(b, batch, newMatcher(filters.NewQuery(scripts)))
		})
	}
	b.Run(name+"/btcutil", func(b *testing.B) { benchOracle(b, batch, scripts) })
}

// benchBatch returns filters of n to m elements, which lie in memory one after the
// other, as in a file.
func benchBatch(blocks, n, m int) []filters.Filter {
	rng := newRand(uint64(n))
	var builder filters.Builder
	var all []byte
	batch := make([]filters.Filter, blocks)
	ends := make([]int, blocks)
	for i := range batch {
		batch[i].Block = randomHash(rng)
		elements := randomScripts(rng, n+rng.IntN(m-n+1), usualKinds)
		all = append(all, builder.Build(&batch[i].Block, elements)...)
		ends[i] = len(all)
	}
	all = append(all, make([]byte, 64)...)
	start := 0
	for i, end := range ends {
		batch[i].Data = all[start : end : end+64]
		start = end
	}
	return batch
}

// perElement reports the time for each element of a batch.
func perElement(b *testing.B, batch []filters.Filter) {
	b.Helper()
	elements := 0
	for _, f := range batch {
		filter, err := gcs.FromNBytes(filters.P, filters.M, f.Data)
		if err != nil {
			b.Fatal(err)
		}
		elements += int(filter.N())
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(elements), "ns/elt")
}

func benchMatch(b *testing.B, batch []filters.Filter, m *filters.Matcher) {
	b.Helper()
	hits := make([]bool, len(batch))
	m.Match(batch, hits) // grows the scratch memory
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Match(batch, hits); err != nil {
			b.Fatal(err)
		}
	}
	perElement(b, batch)
}

// benchOracle calls MatchAny, which picks the faster of btcutil's two ways.
func benchOracle(b *testing.B, batch []filters.Filter, scripts [][]byte) {
	b.Helper()
	parsed := make([]*gcs.Filter, len(batch))
	for i := range batch {
		f, err := gcs.FromNBytes(filters.P, filters.M, batch[i].Data)
		if err != nil {
			b.Fatal(err)
		}
		parsed[i] = f
	}
	b.ReportAllocs()
	for b.Loop() {
		for i, f := range parsed {
			if _, err := f.MatchAny(builder.DeriveKey(&batch[i].Block), scripts); err != nil {
				b.Fatal(err)
			}
		}
	}
	perElement(b, batch)
}

// BenchmarkBuildBlock builds the filter of a block with 2,000 outputs in one
// transaction and 2,000 spent scripts. ns/elt is time for each of the 4,000.
func BenchmarkBuildBlock(b *testing.B) {
	const outputs, spends = 2_000, 2_000
	rng := newRand(1)
	scripts := randomScripts(rng, outputs+spends, usualKinds)
	raw := coinbaseBlock(scripts[:outputs])
	var builder filters.Builder
	var hash chainhash.Hash
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		binary.LittleEndian.PutUint64(hash[:], uint64(b.N))
		if _, err := builder.BuildBlock(&hash, raw, filters.HeaderLen, scripts[outputs:]); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/(outputs+spends), "ns/elt")
}

// BenchmarkInBlock tests a block of 2,000 outputs that holds none of 1,000
// scripts.
func BenchmarkInBlock(b *testing.B) {
	scripts := randomScripts(newRand(2), 3_000, usualKinds)
	raw := coinbaseBlock(scripts[:2_000])
	q := filters.NewQuery(scripts[2_000:])
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if hit, err := q.InBlock(raw, filters.HeaderLen, nil); hit || err != nil {
			b.Fatal(hit, err)
		}
	}
}
