package filters_test

import (
	"bytes"
	"testing"

	"github.com/seed61375155/trawl/filters"
)

// Lookups by probe lines need only the parts that EachPart reports: all other bytes may be
// anything. Left out are filters with so few lines for the scripts that some kernels read
// all of the filter.
func TestEachPart(t *testing.T) { eachKernel(t, testEachPart) }

func testEachPart(t *testing.T) {
	t.Helper()
	rng := newRand(17)
	useLayout(t, filters.LayoutProbe)
	var builder filters.Builder
	told := 0
	for _, k := range []int{1, 2, 7, 20} {
		scripts := randomScripts(rng, k, usualKinds)
		query := filters.NewQuery(scripts)
		for i := range 40 {
			hash := randomHash(rng)
			elements := randomScripts(rng, []int{1, 2, 85, 300, 3_000}[rng.IntN(5)], usualKinds)
			if i%3 == 0 {
				elements = append(elements, scripts[rng.IntN(k)])
			}
			data := builder.Build(&hash, elements)
			whole := filters.Filter{Block: hash, Data: data}
			withLines(t, &whole)
			if lines := len(whole.Lines) / 64; 2*k >= 3*lines {
				continue
			}
			parts := whole
			parts.Data = bytes.Repeat([]byte{0xa5}, len(data))
			query.EachPart(&whole, func(b []byte) {
				copy(parts.Data[cap(data)-cap(b):], b)
				told++
			})
			batch, hits := []filters.Filter{whole, parts}, make([]bool, 2)
			m := method.NewMatcher(query)
			if err := m.Match(batch, hits); err != nil || len(m.StaleLines()) > 0 {
				t.Fatalf("%d scripts: %v, stale %v", k, err, m.StaleLines())
			}
			if hits[0] != hits[1] {
				t.Fatalf("%d scripts: hits %v", k, hits)
			}
		}
	}
	if told == 0 {
		t.Error("there was no part to look at")
	}
}
