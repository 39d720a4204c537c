package filters

import "testing"

// TestInsertCollision: two elements with the same hash are two, which no real
// scripts can show.
func TestInsertCollision(t *testing.T) {
	b := Builder{slots: make([]slot, 4)}
	elements := [][]byte{{1}, {2}, {1}, {2}}
	for i, want := range []bool{true, true, false, false} {
		if got := b.insert(0, slot{hash: 5, element: i + 1}, elements); got != want {
			t.Errorf("element %d: got %v", i, got)
		}
	}
}
