package searches_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// A search is found by its name as well, but an id is the search that has it, even where another has that name. Its
// scope is what it looks for, from the height on at which all of it is looked for.
func TestFoundByName(t *testing.T) {
	r := newRig(t, 3)
	r.grow(20, 0)
	ref := r.start()
	scripts := [][]byte{script(1), script(2)}
	made := do(t, ref, messages.CreateSearch{Name: "kept", Objects: objects(scripts), Follow: true})
	other := do(t, ref, messages.CreateSearch{Name: made.ID, Objects: objects(scripts[:1]), Stop: 10})
	for name, want := range map[string]string{
		made.ID: made.ID, "kept": made.ID, other.ID: other.ID,
	} {
		if got := do(t, ref, messages.GetSearch{ID: name}); got.ID != want {
			t.Errorf("%s is %s, want %s", name, got.ID, want)
		}
	}
	if _, err := ask.Ask(t.Context(), ref, messages.GetSearch{ID: "kep"}); !errors.Is(err, messages.ErrSearchNotFound) {
		t.Error(err)
	}
	extended := messages.SearchObjects{Texts: []string{"fixed", "x/*"}, Scripts: []messages.SearchScript{
		{Script: script(3), Index: -1},
		{Script: script(4), Object: 1, Index: 7}, {Script: script(5), Object: 1, Index: 9},
	}}
	do(t, ref, messages.ExtendSearch{ID: "kept", Objects: extended, Start: 15})
	scope := do(t, ref, messages.GetSearchScope{ID: "kept"})
	n := 0
	for range scope.Scripts.Scripts() {
		n++
	}
	want := []messages.SearchObject{
		{Desc: "object 0"}, {Desc: "object 1", First: 1, Last: 1}, {Desc: "fixed", First: -1, Last: -1},
		{Desc: "x/*", First: 7, Last: 9},
	}
	if scope.From != 15 || n != 5 || scope.Scripts.Len() != 5 || !slices.Equal(scope.Objects, want) {
		t.Errorf("%+v, %d scripts", scope, n)
	}
	_, err := ask.Ask(t.Context(), ref, messages.GetSearchScope{ID: "none"})
	if !errors.Is(err, messages.ErrSearchNotFound) {
		t.Error(err)
	}
}
