package filters

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortingNetwork sorts columns of zeros and ones. By the 0-1 principle a
// network that sorts these sorts all columns; some columns of other numbers
// check the principle.
func TestSortingNetwork(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 158))
	for n := range 40 {
		order := sortingNetwork(nil, n)
		for range 300 {
			bound := 2 + rng.Uint64N(uint64(n)+1)*rng.Uint64N(2)
			column := make([]uint64, n)
			for i := range column {
				column[i] = rng.Uint64N(bound)
			}
			for _, p := range order {
				if column[p[0]] > column[p[1]] {
					column[p[0]], column[p[1]] = column[p[1]], column[p[0]]
				}
			}
			if !slices.IsSorted(column) {
				t.Fatalf("%d numbers: got %d", n, column)
			}
		}
	}
}

// TestHashRows holds the hashes of all lanes against those of one script.
func TestHashRows(t *testing.T) {
	if !slices.Contains(KernelNames(), avx512Kernel().name) {
		t.Skip("needs AVX-512")
	}
	rng := rand.New(rand.NewPCG(4, 158))
	var s scratch
	for _, k := range []int{0, 1, 2, 3, 31, 32, 33, 100, 5, 300} {
		var scripts [][]byte
		for len(scripts) < k {
			more, _ := randomMessages(rng, min(k-len(scripts), 20))
			scripts = append(scripts, more...)
		}
		q := NewQuery(scripts)
		group := make([]lane, 1+rng.IntN(vectorLanes))
		for i := range group {
			group[i] = lane{key: sipKey{rng.Uint64(), rng.Uint64()}, values: make([]uint64, rng.IntN(9_000))}
		}
		hashRows(group, q, &s)
		for i := range group {
			l := &group[i]
			var got, want []uint64
			for row := range q.Len() + 1 {
				got = append(got, s.rows[row*vectorLanes+i])
			}
			for script := range q.Scripts() {
				want = append(want, reduce(sipHash(l.key, script), l.limit()))
			}
			slices.Sort(want)
			if want = append(want, ^uint64(0)); !slices.Equal(got, want) {
				t.Fatalf("%d scripts, lane %d: got %d, want %d", k, i, got, want)
			}
		}
	}
}
