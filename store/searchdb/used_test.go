package searchdb

import (
	"errors"
	"maps"
	"reflect"
	"testing"

	"github.com/seed61375155/trawl/internal/search"
)

// TestUsed keeps the highest used indices of searches, and knows where there are none.
func TestUsed(t *testing.T) {
	o := Options{Dir: t.TempDir()}
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	scripts := []Script{{[]byte{1}, 0, -1}, {[]byte{2}, 2, 7}, {[]byte{3}, 1, 4}, {[]byte{4}, 2, 5}}
	made := func(id ID, found uint64) *Search {
		n := &Search{ID: id, Objects: []Object{"a", "b", "c"}, Scripts: scripts}
		n.Number = uint64(id)
		n.Status.State = search.NewState(search.Block{Height: -1})
		n.Status.Found = found
		return n
	}
	want := map[ID]Used{1: {}, 2: nil, 3: {1: 4, 2: 7}}
	change := Change{Create: []*Search{made(1, 0), made(2, 1), made(3, 9)}, Used: map[ID]Used{3: {2: 6}}}
	change.Create[0].Gaps = Gaps{1: 20}
	gaps := map[ID]Gaps{1: {1: 20}, 3: {0: 1, 2: 100_000}}
	for _, c := range []*Change{
		&change, {Used: map[ID]Used{3: want[3]}, Extend: []Extension{
			{ID: 1, FirstObject: 3, FirstScript: 4},
			{ID: 3, FirstObject: 3, FirstScript: 4, Objects: []Object{"d"}, Gaps: gaps[3]},
		}},
	} {
		if err := s.Commit(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(o); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	list, err := s.Load()
	if err != nil || len(list) != 3 {
		t.Fatal(list, err)
	}
	for _, n := range list {
		if !maps.Equal(n.Used, want[n.ID]) || (n.Used == nil) != (want[n.ID] == nil) {
			t.Errorf("search %v: %v, want %v", n.ID, n.Used, want[n.ID])
		}
		if !maps.Equal(n.Gaps, gaps[n.ID]) {
			t.Errorf("search %v: gaps %v, want %v", n.ID, n.Gaps, gaps[n.ID])
		}
		if ranges := []Range{{1, 4, 4}, {2, 5, 7}}; !reflect.DeepEqual(n.Ranges, ranges) {
			t.Errorf("ranges %v", n.Ranges)
		}
	}
	for _, raw := range [][]byte{{1}, {1, 0, 1}, {0, 0}, {2, 0, 2}} {
		if u, err := decodePairs(raw, "x"); !errors.Is(err, ErrDamaged) {
			t.Errorf("%x: %v, %v", raw, u, err)
		}
	}
}

func TestUsedMerge(t *testing.T) {
	u := Used{}
	u.Add(&Script{Object: 3, Index: 0})
	u.Add(&Script{Object: 4, Index: -1})
	u.Add(&Script{Object: 3, Index: 9})
	u.Add(&Script{Object: 3, Index: 8})
	if !maps.Equal(u, Used{3: 9}) {
		t.Error(u)
	}
	if u.Merge(Used{3: 9}) || !u.Merge(Used{3: 10, 5: 0}) || !maps.Equal(u, Used{3: 10, 5: 0}) {
		t.Error(u)
	}
}
