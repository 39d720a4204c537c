package synth_test

import (
	"testing"

	"github.com/seed61375155/trawl/internal/synth"
)

func TestFind(t *testing.T) {
	for limit := 1; limit < 300; limit++ {
		for cross := range limit {
			calls := 0
			got := synth.FindCrossing(limit, func(k int) bool {
				if calls++; k < 1 || k >= limit {
					t.Fatalf("limit %d: asked for %d", limit, k)
				}
				return k <= cross
			})
			if got > cross || cross-got > 1+cross/12 || calls > 20 {
				t.Errorf("limit %d: got %d after %d calls, want %d", limit, got, calls, cross)
			}
		}
	}
}
