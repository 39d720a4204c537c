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
		// Quotients around 17, the most that two elements share in a window,
		// around 37, the most of a single element, and around 64, which end a
		// window. Between them are zeros, to stay below the limit.
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
