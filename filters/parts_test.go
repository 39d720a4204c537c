package filters

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// BenchmarkParts measures what matching consists of, with each kernel: ns/part is
// the time for each script hashed, hashed and looked up, element decoded to memory, and
// element put in the bitmap.
func BenchmarkParts(b *testing.B) {
	for _, n := range []int{2_000, 5_000} {
		for _, k := range kernels {
			benchParts(b, k, n)
		}
	}
}

func benchParts(b *testing.B, k *kernel, n int) {
	b.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), 158))
	m := &Matcher{query: NewQuery(nil), kernel: k, lanes: make([]lane, k.lanes)}
	batch, order := make([]Filter, k.lanes), make([]uint64, k.lanes)
	for i := range batch {
		values := make([]uint64, n)
		for j := range values {
			values[j] = rng.Uint64N(uint64(n) * M)
		}
		slices.Sort(values)
		batch[i].Data = Encode(values)
		order[i] = uint64(n)<<32 | uint64(i)
	}
	script := messages{words: 4}
	for range chunk {
		var random [25]byte
		for i := range random {
			random[i] = byte(rng.Uint32())
		}
		script.add(random[:])
	}
	lanes := m.load(batch, order)
	k.decode(lanes)
	var none elements
	none.begin(nil)
	e := &m.marked[0]
	mark := func(l *lane) {
		e.begin(l.values)
		k.mark(e)
	}
	mark(&lanes[0])
	limit := lanes[0].limit()
	var hashes [chunk]uint64

	for _, part := range []struct {
		name  string
		count int
		run   func()
	}{
		{"hash", chunk, func() { k.hash(hashes[:], script.tile(0), script.words, sipKey{1, 2}, limit) }},
		{
			"hashAndTest", chunk,
			func() { k.hashAndTest(hashes[:], script.tile(0), script.words, sipKey{1, 2}, limit, e, &none) },
		},
		{"decode", n * k.lanes, func() { k.decode(m.load(batch, order)) }},
		{"mark", n * k.lanes, func() {
			for i := range lanes {
				mark(&lanes[i])
			}
		}},
	} {
		b.Run(fmt.Sprintf("n=%d/%s/%s", n, part.name, k.name), func(b *testing.B) {
			for b.Loop() {
				part.run()
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(part.count), "ns/part")
		})
	}
}
