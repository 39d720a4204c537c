package arch

import (
	"slices"
	"testing"
)

// Inside an actor nobody waits: neither for another actor, nor for time to
// pass. An actor that asks does so with ask.Then.
func TestActorsNeverWait(t *testing.T) {
	for _, f := range folders(t) {
		if !f.in("actors") {
			continue
		}
		for _, file := range f.files {
			for _, at := range append(
				calls(file, module+"/internal/ask", "Ask", "Control"),
				calls(file, "time", "Sleep")...,
			) {
				t.Errorf("%v: an actor must not wait", positions.Position(at))
			}
		}
	}
}

// writeFilters lists the folders that may hold the store of the filter index, which
// writes. All others hold its read-only side.
var writeFilters = []string{"actors/indexer", "internal/index/filter", "store", "bench"}

func TestFiltersHaveOneWriter(t *testing.T) {
	for _, f := range folders(t) {
		if slices.ContainsFunc(writeFilters, f.in) {
			continue
		}
		for _, file := range f.files {
			for _, at := range calls(file, module+"/store/segment", "Store", "Open") {
				t.Errorf("%v: only %v may write filters", positions.Position(at), writeFilters)
			}
		}
	}
}

// Every actor, and the package that puts them together, is tested to leave no
// goroutine behind.
func TestLeaksAreLookedFor(t *testing.T) {
	for _, f := range folders(t) {
		if f.name != "." && !f.in("actors") || len(f.tests) == 0 {
			continue
		}
		looked := false
		for _, file := range f.tests {
			looked = looked || len(calls(file, module+"/internal/actortest", "Main")) > 0
		}
		if !looked {
			t.Errorf("%s: no TestMain calls actortest.Main", f.name)
		}
	}
}
