package filters

import (
	"slices"
	"testing"
)

// TestCollision: two elements with the same hash are two, which no real scripts
// can show.
func TestCollision(t *testing.T) {
	elements := [][]byte{{1}, {2}, {1}, {3}, {2}, {3}}
	b := Builder{sorted: []entry{{5, 0}, {5, 1}, {5, 2}, {6, 3}, {6, 4}, {6, 5}}}
	b.dropRepeated(func(i uint32) []byte { return elements[i] })
	want := []entry{{5, 0}, {5, 1}, {6, 3}, {6, 4}}
	if !slices.Equal(b.sorted, want) {
		t.Errorf("got %v, want %v", b.sorted, want)
	}
}
