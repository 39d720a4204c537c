package filters_test

import (
	"bytes"
	"cmp"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/filters"
)

// method is that of the tests' matchers.
var method filters.Method

func newMatcher(q *filters.Query) *filters.Matcher { return method.NewMatcher(q) }

// useMethod makes the tests' matchers work by a method until the test ends.
func useMethod(tb testing.TB, kernel, layout string) {
	tb.Helper()
	m, err := filters.NewMethod(kernel, layout)
	if err != nil {
		tb.Fatal(err)
	}
	before := method
	method = m
	tb.Cleanup(func() { method = before })
}

// useKernel makes them use a kernel.
func useKernel(tb testing.TB, name string) {
	tb.Helper()
	useMethod(tb, name, string(method.Layout()))
}

// eachKernel runs a test with each of the kernels.
func eachKernel(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	for _, name := range filters.KernelNames() {
		t.Run(name, func(t *testing.T) {
			useKernel(t, name)
			test(t)
		})
	}
}

func TestMethod(t *testing.T) {
	names := filters.KernelNames()
	zero := filters.Method{}
	if zero.Kernel() != names[0] || zero.Layout() != filters.LayoutAuto || names[len(names)-1] != "portable" {
		t.Errorf("%q, %q chosen of %q", zero.Kernel(), zero.Layout(), names)
	}
	for _, kernel := range append(names, "") {
		for _, layout := range append(filters.Layouts, "") {
			m, err := filters.NewMethod(kernel, string(layout))
			if err != nil || m.Kernel() != cmp.Or(kernel, names[0]) ||
				m.Layout() != cmp.Or(layout, filters.LayoutAuto) {
				t.Errorf("%q, %q: got %q, %q, %v", kernel, layout, m.Kernel(), m.Layout(), err)
			}
		}
	}
	for _, test := range [][2]string{{"abacus", ""}, {"", "heap"}, {names[0], "heap"}} {
		if _, err := filters.NewMethod(test[0], test[1]); err == nil {
			t.Errorf("%q was accepted", test)
		}
	}
}

// TestKernelDecode decodes groups of filters as a matcher does. It takes many
// elements to meet all that may happen to two in a window.
func TestKernelDecode(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		t.Helper()
		for seed := range uint64(20) {
			rng := newRand(seed)
			var all [][]byte
			var want [][]uint64
			for range 1 + rng.IntN(80) {
				values := randomValues(rng, 600+rng.IntN(100))
				want = append(want, values)
				all = append(all, randomTail(rng, filters.Encode(values)))
			}
			got, errs := filters.KernelDecode(method, all...)
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if !slices.Equal(got[i], want[i]) {
					t.Fatalf("seed %d: wrong values of filter %d of %d", seed, i, len(all))
				}
			}
		}
	})
}

// TestKernelDecodeRuns decodes filters with a quotient around the limits of
// windows: of two elements in a window, of four in two, of a single element, and of
// the window itself. The element is each of four that are decoded at once, begins
// at every bit of a byte, and is in all lanes.
func TestKernelDecodeRuns(t *testing.T) {
	eachKernel(t, func(t *testing.T) {
		t.Helper()
		for _, run := range []uint64{0, 8, 9, 16, 17, 18, 23, 24, 25, 35, 36, 37, 38, 56, 57, 63, 64, 65} {
			for turn := range uint64(16) {
				var all [][]byte
				var want [][]uint64
				for lane := range uint64(32) {
					values := valuesWithRun(run, 8+(lane+turn)%16)
					want = append(want, values)
					all = append(all, filters.Encode(values))
				}
				got, errs := filters.KernelDecode(method, all...)
				if err := errors.Join(errs...); err != nil || !slices.EqualFunc(got, want, slices.Equal) {
					t.Fatalf("run of %d, turn %d: wrong values, errors %v", run, turn, err)
				}
			}
		}
	})
}

// valuesWithRun returns values whose quotients are zero, but for the one at the
// index, and those before it that let it begin anywhere in a byte.
func valuesWithRun(run, index uint64) []uint64 {
	values := make([]uint64, 80)
	var last uint64
	for i := range uint64(len(values)) {
		switch {
		case i == index:
			last += run << filters.P
		case i < index/2:
			last += 1 << filters.P
		}
		last += (2*i + 1) * 0x2545f % (1 << filters.P)
		values[i] = last
	}
	return values
}

// randomTail returns the filter with up to 100 bytes behind it that may be read.
func randomTail(rng *rand.Rand, filter []byte) []byte {
	if rng.IntN(2) == 0 {
		return slices.Clip(filter)
	}
	n := len(filter)
	tail := bytes.Repeat([]byte{byte(rng.Uint32())}, rng.IntN(101))
	return slices.Clip(slices.Concat(filter, tail))[:n]
}

// randomFilter returns a filter of about n elements, which may hold one of the
// scripts, or be damaged.
func randomFilter(rng *rand.Rand, n int, scripts [][]byte) filters.Filter {
	hash := randomHash(rng)
	values := randomValues(rng, n)
	if len(scripts) > 0 && n > 0 && rng.IntN(2) == 0 {
		plant(rng, &hash, values, scripts)
	}
	data := filters.Encode(values)
	switch rng.IntN(20) {
	case 0:
		data = data[:rng.IntN(len(data))]
	case 1:
		data[rng.IntN(len(data))] ^= 1 << rng.IntN(8)
	case 2:
		at := rng.IntN(len(data))
		copy(data[at:], bytes.Repeat([]byte{0xff}, rng.IntN(30)))
	}
	return filters.Filter{Block: hash, Data: randomTail(rng, data)}
}
