package ask_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/ask"
)

func TestDirectory(t *testing.T) {
	var d ask.Directory
	refs := map[string]*ask.Ref{"b": ask.Absent("b"), "a": ask.Absent("a"), "c": ask.Absent("c")}
	if d.Lookup("a") != nil || len(d.Names()) != 0 {
		t.Errorf("an empty directory has %v", d.Names())
	}
	for _, name := range []string{"b", "a", "c"} {
		if !d.Add(name, refs[name]) {
			t.Errorf("%s is taken", name)
		}
	}
	if d.Add("a", refs["b"]) || d.Lookup("a") != refs["a"] {
		t.Error("a name was given twice")
	}
	names := d.Names()
	if want := []string{"b", "a", "c"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
	names[0] = "x" // the caller's own
	d.Remove("a")
	d.Remove("none")
	if want := []string{"b", "c"}; !slices.Equal(d.Names(), want) || d.Lookup("a") != nil {
		t.Errorf("got %v, want %v", d.Names(), want)
	}
	if !d.Add("a", refs["a"]) || d.Lookup("a") != refs["a"] || d.Lookup("b") != refs["b"] {
		t.Error("a name that was given back is not given again")
	}
}

// Every change is told of, and nothing else.
func TestDirectoryTellsOfChanges(t *testing.T) {
	var told []string
	d := ask.Directory{Changed: func(name string, there bool) { told = append(told, fmt.Sprint(name, " ", there)) }}
	ref := ask.Absent("a")
	d.Add("a", ref)
	d.Add("a", ref)
	d.Remove("b")
	d.Remove("a")
	d.Remove("a")
	d.Add("a", ref)
	if want := []string{"a true", "a false", "a true"}; !slices.Equal(told, want) {
		t.Errorf("told of %q, want %q", told, want)
	}
}
