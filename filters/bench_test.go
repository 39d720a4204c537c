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
// not hold, as nearly every step of a scan does, and in the same run lets
// btcutil's gcs do so. ns/elt is time for each element of the filters.
func BenchmarkMatch(b *testing.B) {
	const blocks = 120
	for _, n := range []int{2_000, 5_000} {
		rng := newRand(uint64(n))
		var builder filters.Builder
		batch := make([]filters.Filter, blocks)
		for i := range batch {
			hash := randomHash(rng)
			elements := randomScripts(rng, n, usualKinds)
			batch[i] = filters.Filter{Block: hash, Data: builder.Build(&hash, elements)}
		}
		for _, k := range []int{1, 10, 100, 1_000, 10_000} {
			scripts := randomScripts(rng, k, usualKinds)
			b.Run(fmt.Sprintf("n=%d/k=%d/%s", n, k, filters.KernelName()), func(b *testing.B) {
				benchMatch(b, batch, scripts)
				b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(n*blocks), "ns/elt")
			})
			b.Run(fmt.Sprintf("n=%d/k=%d/btcutil", n, k), func(b *testing.B) {
				benchOracle(b, batch, scripts)
				b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(n*blocks), "ns/elt")
			})
		}
	}
}

func benchMatch(b *testing.B, batch []filters.Filter, scripts [][]byte) {
	b.Helper()
	m := filters.NewMatcher(filters.NewQuery(scripts))
	hits := make([]bool, len(batch))
	m.Match(batch, hits) // grows the scratch memory
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Match(batch, hits); err != nil {
			b.Fatal(err)
		}
	}
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
