package filters_test

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/filters"
)

// FuzzProbe looks scripts up by lines, good and damaged, and without, with each
// kernel, and holds answers against the oracle. Lines and filters lie before
// memory that may not be read. Numbers are those of FuzzKernels; flip, if not
// zero, is a bit of the lines and bytes of one of the filters.
func FuzzProbe(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(seed, uint8(seed*7), uint16(seed*171), uint16(seed*seed*5), uint32(0))
		f.Add(seed, uint8(seed*7), uint16(seed*171), uint16(seed*seed*5), uint32(seed*977+1))
	}
	f.Add(uint64(11), uint8(66), uint16(180), uint16(700), uint32(0))
	f.Add(uint64(12), uint8(1), uint16(1_900), uint16(33), uint32(7))
	f.Fuzz(func(t *testing.T, seed uint64, size uint8, n, k uint16, flip uint32) {
		rng := newRand(seed)
		scripts := fuzzScripts(rng, int(k))
		batch := probeBatch(t, rng, int(size)%79+1, int(n), scripts)
		want, wantBad := oracleBatch(t, batch, scripts)
		flipped := -1
		if flip > 0 {
			flipped = rng.IntN(len(batch))
			if found := slices.Index(want[flipped:], true); found > 0 && flip%4 > 0 {
				flipped += found // rather one in which something is found
			}
		}
		var guard guard
		for i := range batch {
			f := &batch[i]
			if i == flipped {
				flipBit(f, int(flip))
			}
			f.Lines, f.Data = guard.before(f.Lines), guard.before(f.Data)
		}
		q := filters.NewQuery(scripts)
		for _, name := range filters.KernelNames() {
			for _, layout := range filters.Layouts {
				useKernel(t, name)
				useLayout(t, layout)
				hits := make([]bool, len(batch))
				bad := badIndex(newMatcher(q).Match(batch, hits))
				checkProbed(t, name+"/"+string(layout), hits, want, bad, wantBad, flipped)
			}
		}
	})
}

// flipBit flips a bit of a filter's lines or bytes, which were sound.
func flipBit(f *filters.Filter, bit int) {
	bit %= max(8*(len(f.Lines)+len(f.Data)), 1)
	switch inLines := 8 * len(f.Lines); {
	case bit < inLines:
		f.Lines = flipped(f.Lines, bit)
	case len(f.Data) > 0:
		f.Data = flipped(f.Data, bit-inLines)
	}
}

// checkProbed compares hits and the first bad filter with the results before a
// filter of the batch was damaged. The damaged filter, at an index or -1 for
// none, may be bad, or have the right answer.
func checkProbed(t *testing.T, name string, hits, want []bool, bad, wantBad, damaged int) {
	t.Helper()
	if bad >= 0 && bad == damaged {
		if hits[bad] || wantBad >= 0 && wantBad < bad {
			t.Fatalf("%s: bad filter %d with hit %v, want %d", name, bad, hits[bad], wantBad)
		}
	} else if bad != wantBad {
		t.Fatalf("%s: got bad filter %d, want %d", name, bad, wantBad)
	}
	for i, hit := range hits {
		// A damaged one after the first bad one may be bad too.
		refused := i == damaged && !hit && bad >= 0 && bad <= i
		if hit != want[i] && !refused {
			t.Fatalf("%s: filter %d (of %d, bad %d, damaged %d): got %v, want %v", name, i, len(hits), bad, damaged, hit, want[i])
		}
	}
}

// probeBatch returns filters with lines, and some damaged ones without.
func probeBatch(tb testing.TB, rng *rand.Rand, size, n int, scripts [][]byte) []filters.Filter {
	tb.Helper()
	batch := fuzzBatch(rng, size, n, scripts)
	for i := range batch {
		withLines(tb, &batch[i])
		if rng.IntN(20) == 0 {
			batch[i].Lines = nil
		}
	}
	return batch
}

// FuzzLines makes lines of arbitrary bytes, and looks numbers up in arbitrary
// lines whose checksums are right, with each kernel.
func FuzzLines(f *testing.F) {
	rng := newRand(35)
	hash := randomHash(rng)
	var b filters.Builder
	f.Add(b.Build(&hash, randomScripts(rng, 3, usualKinds)), []byte{})
	f.Add(b.Build(&hash, randomScripts(rng, 300, usualKinds)), bytes.Repeat([]byte{0xff}, 64))
	f.Add(filters.Encode(valuesWithRun(64, 21)), bytes.Repeat([]byte{0xff, 0}, 40))
	f.Add([]byte{0}, []byte{1})
	f.Fuzz(func(t *testing.T, filter, given []byte) {
		one := filters.Filter{Block: hash, Data: filter}
		withLines(t, &one)
		if len(one.Lines) == 0 {
			return
		}
		scripts := randomScripts(newRand(uint64(len(filter))), 40, usualKinds)
		other := one
		other.Lines = slices.Clone(one.Lines)
		copy(other.Lines, given)
		filters.SignLines(&other)
		var guard guard
		other.Lines, other.Data = guard.before(other.Lines), guard.before(filter)

		want := []bool{oracleMatch(t, &hash, filter, scripts)}
		useLayout(t, filters.LayoutProbe)
		for _, name := range filters.KernelNames() {
			useKernel(t, name)
			checkHits(t, name, newMatcher(filters.NewQuery(scripts)), []filters.Filter{one}, want, -1)
			for _, k := range []int{1, 20, 40} {
				// must not panic
				newMatcher(filters.NewQuery(scripts[:k])).Match([]filters.Filter{other}, make([]bool, 1))
			}
		}
	})
}
