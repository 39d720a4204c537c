package feeestimate_test

import (
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/txpool/feeestimate"
)

// The rates are those where half of a block, and three quarters of one, are full; a part that ends there counts.
func TestNext(t *testing.T) {
	parts := func(list ...int64) (all []feeestimate.Part) {
		for i := 0; i < len(list); i += 2 {
			all = append(all, feeestimate.Part{Rate: list[i], Weight: list[i+1]})
		}
		return all
	}
	for _, test := range []struct {
		parts              []feeestimate.Part
		conservative, fast int64
	}{
		{nil, 7, 7},
		{parts(50, 499), 7, 7},
		{parts(50, 500), 50, 7},
		{parts(50, 499, 40, 250), 40, 7},
		{parts(50, 499, 40, 251), 40, 40},
		{parts(50, 500, 40, 249, 30, 1), 50, 30},
		{parts(40, 300, 50, 500), 50, 40}, // a rounded rate
		{parts(50, 1000), 50, 50},
	} {
		for conservative, want := range map[bool]int64{true: test.conservative, false: test.fast} {
			if got := feeestimate.Next(test.parts, 1000, 7, conservative); got != want {
				t.Errorf("%v, conservative %v: %d, want %d", test.parts, conservative, got, want)
			}
		}
	}
}

// Six blocks in a row say how much of their weight the pool had, if there is enough in them.
func TestCoverage(t *testing.T) {
	var c feeestimate.Coverage
	add := func(height int32, weight, known int64) {
		c.Add(feeestimate.Mined{Height: height, Weight: weight, Known: known})
	}
	want := func(step string, reliable bool, heights ...int32) {
		t.Helper()
		var got []int32
		for _, m := range c.Blocks() {
			got = append(got, m.Height)
		}
		if c.Reliable(1000) != reliable || !slices.Equal(got, heights) {
			t.Errorf("%s: reliable %v, by %v", step, c.Reliable(1000), got)
		}
	}
	want("none", false)
	for height := range int32(5) {
		add(height, 200, 150)
	}
	want("five", false, 4, 3, 2, 1, 0)
	add(5, 200, 150)
	want("six", true, 5, 4, 3, 2, 1, 0)
	add(6, 200, 149)
	want("one known less", false, 6, 5, 4, 3, 2, 1)
	add(6, 200, 150)
	want("another in its place", true, 6, 5, 4, 3, 2, 1)
	add(4, 0, 0)
	want("back", false, 4, 3, 2, 1)
	add(5, 0, 0)
	add(6, 399, 0)
	want("little in all", true, 6, 5, 4, 3, 2, 1)
	add(7, 500, 0)
	add(8, 0, 0)
	want("much that was not known", false, 8, 7, 6, 5, 4, 3)
	add(10, 0, 0)
	want("a gap", false, 10)
}
