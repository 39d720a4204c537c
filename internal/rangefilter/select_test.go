package rangefilter_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/rangefilter"
)

// FuzzSelect looks many hashes up at once, some of which are there, in filters of any
// hashes, and in bytes that take for one.
func FuzzSelect(f *testing.F) {
	f.Add(uint64(0), uint16(0), uint32(0))
	f.Add(uint64(1), uint16(1), uint32(31))
	f.Add(uint64(2), uint16(900), uint32(32))
	f.Add(uint64(3), uint16(50_000), uint32(1<<16+100))
	f.Add(uint64(4), uint16(3), uint32(300_000))
	var selector rangefilter.Selector
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, asked uint32) {
		rng := rand.New(rand.NewPCG(seed, 1))
		all := make([]uint64, n)
		for i := range all {
			all[i] = rng.Uint64()
		}
		data, err := build(all)
		if err != nil {
			t.Fatal(err)
		}
		hashes := make([]uint64, asked%(1<<19))
		for i := range hashes {
			if hashes[i] = rng.Uint64(); n > 0 && rng.IntN(8) == 0 {
				hashes[i] = all[rng.IntN(int(n))]
			}
		}
		for range 2 {
			filter, err := rangefilter.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			want := []uint32{7}
			for i, hash := range hashes {
				if filter.Has(hash) {
					want = append(want, uint32(i))
				}
			}
			got := selector.Select([]uint32{7}, filter, hashes)
			if slices.Sort(got[1:]); !slices.Equal(got, want) {
				t.Fatalf("selects %d of %d, not %d", len(got)-1, len(hashes), len(want)-1)
			}
			// The same with another seed and prints: no filter of these hashes.
			binary.LittleEndian.PutUint64(data, seed)
			for i := 16; i < len(data); i += 3 {
				data[i] = uint8(rng.Uint32())
			}
		}
	})
}

func BenchmarkSelect(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	const length, segments = 1 << 15, 350
	data := make([]byte, 16+(segments+2)*length)
	for i := range data {
		data[i] = uint8(rng.Uint32())
	}
	binary.LittleEndian.PutUint32(data[8:], length)
	binary.LittleEndian.PutUint32(data[12:], segments)
	filter, err := rangefilter.Parse(data)
	if err != nil {
		b.Fatal(err)
	}
	hashes := make([]uint64, 1_000_000)
	for i := range hashes {
		hashes[i] = rng.Uint64()
	}
	var found []uint32
	var selector rangefilter.Selector
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			found = found[:0]
			for i, hash := range hashes {
				if filter.Has(hash) {
					found = append(found, uint32(i))
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/hash")
	})
	b.Run("many", func(b *testing.B) {
		for b.Loop() {
			found = selector.Select(found[:0], filter, hashes)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e6, "ns/hash")
	})
}
