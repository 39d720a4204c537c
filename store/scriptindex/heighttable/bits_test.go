package heighttable

import (
	"math/rand/v2"
	"testing"
)

// Numbers are read as they were written, up to the last bit, and reading on is noticed.
func TestBits(t *testing.T) {
	for seed := range uint64(200) {
		many := int(seed % 40)
		r := rand.New(rand.NewPCG(seed, 1))
		next := func() (v uint64, n uint) { // n 0: in unary
			if r.IntN(2) == 0 {
				return r.Uint64N(1 << r.UintN(8)), 0
			}
			n = 1 + r.UintN(56)
			return r.Uint64() & (1<<n - 1), n
		}
		var w bitWriter
		for range many {
			if v, n := next(); n == 0 {
				w.unary(v)
			} else {
				w.put(v, n)
			}
		}
		w.unary(seed % 130)
		w.end()
		r = rand.New(rand.NewPCG(seed, 1))
		read := bitReader{b: w.buf}
		for range many {
			v, n := next()
			got := uint64(0)
			if n == 0 {
				got = read.unary()
			} else {
				got = read.take(n)
			}
			if got != v || read.over() {
				t.Fatalf("seed %d: %d in %d bits, want %d", seed, got, n, v)
			}
		}
		if got := read.unary(); got != seed%130 || read.over() {
			t.Fatalf("seed %d: the last is %d", seed, got)
		}
		if read.unary(); !read.over() {
			t.Fatalf("seed %d: there is more behind the end", seed)
		}
	}
}
