package searches

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/internal/search"
)

// TestHeightSet holds the set of heights against a map.
func TestHeightSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set, want := heightSet{}, map[int32]bool{}
		height := rapid.OneOf(rapid.Int32Range(0, 200), rapid.Int32Range(900, 3200), rapid.Just(int32(1<<31-2)))
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			at := height.Draw(t, "height")
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				set.cut(at - 1)
				maps.DeleteFunc(want, func(h int32, _ bool) bool { return h > at-1 })
			case 1:
				if set.note(&search.Entry{Kind: search.Disconnect, Height: at}) {
					t.Fatal("a block that has left is another one")
				}
				maps.DeleteFunc(want, func(h int32, _ bool) bool { return h >= at })
			case 2:
				set.add(at)
				want[at] = true
			default:
				if set.note(&search.Entry{Kind: search.Receive, Height: at}) == want[at] {
					t.Fatalf("%d is another one: %t", at, want[at])
				}
				want[at] = true
			}
			if set.len() != len(want) || set.has(at) != want[at] {
				t.Fatalf("%d heights, want %v", set.len(), slices.Sorted(maps.Keys(want)))
			}
		}
		for h := range want {
			if !set.has(h) {
				t.Fatalf("%d is missing", h)
			}
		}
	})
}

func never(int32) bool { return false }
