package search_test

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/internal/search"
)

// A set does what a map and a list do together.
func TestSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var zero search.ScriptSet
		sets := []*search.ScriptSet{&zero, search.NewScriptSet(rapid.IntRange(0, 100).Draw(t, "room"))}
		known := map[string]bool{}
		var list [][]byte
		draw := rapid.SliceOfN(rapid.Byte(), 0, 2)
		for _, script := range rapid.SliceOfN(draw, 0, 300).Draw(t, "scripts") {
			for _, s := range sets {
				if s.Has(script) != known[string(script)] || s.Add(script) == known[string(script)] || !s.Has(script) {
					t.Fatalf("%x: known before: %v", script, known[string(script)])
				}
			}
			if !known[string(script)] {
				known[string(script)] = true
				list = append(list, script)
			}
		}
		for _, s := range sets {
			if !slices.EqualFunc(s.List(), list, bytes.Equal) || s.Len() != len(list) {
				t.Fatalf("%d scripts, want %d", s.Len(), len(list))
			}
			if other := draw.Draw(t, "other"); s.Has(other) != known[string(other)] {
				t.Fatalf("%x: %v", other, s.Has(other))
			}
		}
	})
}
