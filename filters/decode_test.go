package filters_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/filters"
)

// randomValues returns n ascending values that a filter may hold: evenly
// spread, crowded, or with long quotients, up to such that fit no window. Equal
// values occur.
func randomValues(rng *rand.Rand, n int) []uint64 {
	values := make([]uint64, n)
	limit := uint64(n) * filters.M
	switch rng.IntN(3) {
	case 0: // even
		for i := range values {
			values[i] = rng.Uint64N(limit)
		}
	case 1: // crowded
		base, spread := rng.Uint64N(limit+1)/2, 1+limit/(2+rng.Uint64N(500))
		for i := range values {
			values[i] = min(base+rng.Uint64N(spread), limit-1)
		}
	case 2: // runs
		// Around the 17 that two elements share in a window, the 37 that
		// one has, and the 64 that end it; between them zeros, to stay
		// below the limit.
		run := []uint64{9, 17, 37, 64}[rng.IntN(4)]
		var last uint64
		for i := range values {
			if rng.Uint64N(run) == 0 {
				last += (run - 1 + rng.Uint64N(3)) << filters.P
			}
			last += rng.Uint64N(1 << filters.P)
			values[i] = min(last, limit-1)
		}
	}
	slices.Sort(values)
	return values
}

func drawValues(t *rapid.T, maxLen int) []uint64 {
	n := rapid.IntRange(0, maxLen).Draw(t, "n")
	return randomValues(newRand(rapid.Uint64().Draw(t, "seed")), n)
}

func TestDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := drawValues(t, 400)
		filter := filters.Encode(values)
		got, err := filters.Decode(filter)
		if err != nil || !slices.Equal(got, values) {
			t.Fatalf("got %v and %v, want %v", got, err, values)
		}
		if slow, ok := slowDecode(filter); !ok || !slices.Equal(slow, values) {
			t.Fatal("the slow decoder disagrees")
		}
		for _, bad := range [][]byte{filter[:len(filter)-1], append(filter, 0)} {
			if _, err := filters.Decode(bad); !errors.Is(err, filters.ErrBadFilter) {
				t.Fatalf("%d bytes of %d: got %v", len(bad), len(filter), err)
			}
		}
	})
}

func TestDecodeEdges(t *testing.T) {
	for _, c := range []struct {
		name   string
		filter []byte
		want   []uint64 // nil: refused
	}{
		{"nothing", nil, nil},
		{"no elements", []byte{0}, []uint64{}},
		{"no elements and a byte", []byte{0, 0}, nil},
		{"one", []byte{1, 0, 0, 0x10}, []uint64{1}},
		{"set bits left over", []byte{1, 0, 0, 0x1f}, []uint64{1}},
		{"a byte left over", []byte{1, 0, 0, 0x10, 0}, nil},
		{"two bytes for 20 bits", []byte{1, 0, 0}, nil},
		{"an open run", []byte{1, 0xff, 0xff, 0xff}, nil},
		{"the greatest", filters.Encode([]uint64{filters.M - 1}), []uint64{filters.M - 1}},
		{"out of range", filters.Encode([]uint64{filters.M}), nil},
		{"an equal pair", filters.Encode([]uint64{9, 9}), []uint64{9, 9}},
		{"a long number", append([]byte{0xfd, 1, 0}, 0, 0, 0x10), nil},
		{"a cut number", []byte{0xfd, 1}, nil},
		{"2^64-1 elements", append(slices.Repeat([]byte{0xff}, 9), make([]byte, 100)...), nil},
		{"2^32-1 elements", append(slices.Repeat([]byte{0xfe}, 5), make([]byte, 100)...), nil},
	} {
		got, err := filters.Decode(c.filter)
		if c.want == nil {
			if !errors.Is(err, filters.ErrBadFilter) {
				t.Errorf("%s: got %v and %v, want ErrBadFilter", c.name, got, err)
			}
		} else if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v and %v, want %v", c.name, got, err, c.want)
		}
	}
}

// FuzzDecode holds Decode, and the kernel's way of decoding, against the slow
// decoder on arbitrary bytes.
func FuzzDecode(f *testing.F) {
	rng := newRand(3)
	hash := randomHash(rng)
	var b filters.Builder
	f.Add(b.Build(&hash, randomScripts(rng, 3, usualKinds)))
	f.Add(b.Build(&hash, randomScripts(rng, 300, usualKinds)))
	f.Add(filters.Encode([]uint64{7, 99 * filters.M, 99*filters.M + 1}))
	f.Add(append([]byte{40}, slices.Repeat([]byte{0xff, 0, 0}, 60)...))
	f.Add([]byte{})
	scripts := randomScripts(rng, 20, usualKinds)
	m := filters.NewMatcher(filters.NewQuery(scripts))
	f.Fuzz(func(t *testing.T, filter []byte) {
		want, ok := slowDecode(filter)
		got, err := filters.Decode(filter)
		if (err == nil) != ok || ok && !slices.Equal(got, want) {
			t.Fatalf("got %v and %v, want %v", got, err, want)
		}
		if ok {
			if got, errs := filters.KernelDecode(filter, filter); !slices.Equal(got[1], want) {
				t.Fatalf("the kernel got %v and %v, want %v", got[1], errs[1], want)
			}
		}
		// Four filters, so that some are decoded side by side. One has a byte
		// left over, unless that completes its last element.
		longer := append(slices.Clone(filter), 0)
		batch := []filters.Filter{{Block: hash, Data: filter}, {Block: hash, Data: longer}, {Block: hash, Data: filter}, {Block: hash, Data: filter}}
		wantHits, wantBad := oracleBatch(t, batch, scripts)
		hits := make([]bool, len(batch))
		if bad := badIndex(m.Match(batch, hits)); !slices.Equal(hits, wantHits) || bad != wantBad {
			t.Fatalf("got %v and bad filter %d, want %v and %d", hits, bad, wantHits, wantBad)
		}
	})
}
