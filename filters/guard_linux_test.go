package filters_test

import (
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/filters"
)

// TestMatchReadsNoFurther puts filters right before a page that may not be
// read, where one byte too many ends the process.
func TestMatchReadsNoFurther(t *testing.T) {
	const size = 1 << 16
	mem, err := syscall.Mmap(-1, 0, 2*size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skip(err)
	}
	defer syscall.Munmap(mem)
	if err := syscall.Mprotect(mem[size:], syscall.PROT_NONE); err != nil {
		t.Skip(err)
	}
	rng := newRand(7)
	m := filters.NewMatcher(filters.NewQuery(randomScripts(rng, 3, usualKinds)))
	var builder filters.Builder
	hash := randomHash(rng)
	complete := [][]byte{heavyFilter(100)}
	for _, n := range []int{0, 1, 2, 3, 4, 5, 10, 100, 1_000} {
		complete = append(complete, builder.Build(&hash, randomScripts(rng, n, usualKinds)))
	}
	for _, data := range complete {
		for cut := range min(len(data), 500) {
			end := mem[size-len(data)+cut : size]
			copy(end, data)
			batch := []filters.Filter{{hash, end}, {hash, end}, {hash, end}}
			err := m.Match(batch, make([]bool, 3))
			if _, ok := slowDecode(end); (err == nil) != ok {
				t.Errorf("%d bytes of %d: got %v", len(end), len(data), err)
			}
		}
	}
}

// heavyFilter returns a filter of n elements with the longest quotients that
// fit a window. Its values are out of range.
func heavyFilter(n int) []byte {
	values := make([]uint64, n)
	for i := range values {
		values[i] = uint64(i+1) * (37<<filters.P | 0x2aaaa)
	}
	return filters.EncodeValues(values)
}
