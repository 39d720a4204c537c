package searchdb

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"time"

	"github.com/seed61375155/trawl/internal/search"
)

// A model is what a Store should hold.
type model struct {
	searches map[ID]*Search
	entries  map[ID][]Entry
}

func newModel() model { return model{map[ID]*Search{}, map[ID][]Entry{}} }

func (m *model) clone() model {
	c := newModel()
	for id, n := range m.searches {
		one := *n
		c.searches[id], c.entries[id] = &one, slices.Clone(m.entries[id])
	}
	return c
}

// change makes a change by chance, in the model too.
func (m *model) change(r *rand.Rand, next ID) *Change {
	c := &Change{Status: map[ID]Status{}, Used: map[ID]Used{}}
	if len(m.searches) == 0 || r.IntN(3) == 0 {
		n := newSearch(r, next)
		one := *n
		m.searches[next] = &one
		c.Create = append(c.Create, n)
	}
	for id, n := range m.searches {
		switch r.IntN(6) {
		case 0:
			changes := n.Status.Changes + r.Uint64N(2)
			n.Status = status(r)
			n.Status.Changes = changes
			c.Status[id] = n.Status
		case 1, 2:
			for i := range 1 + r.IntN(4) {
				e := entry(r, id, uint32(next)*10+uint32(i))
				c.Entries = append(c.Entries, e)
				m.entries[id] = append(m.entries[id], e)
			}
		case 3:
			more := newSearch(r, id)
			for i := range more.Scripts {
				more.Scripts[i].Object += uint32(len(n.Objects))
			}
			c.Extend = append(c.Extend, Extension{
				ID: id, FirstObject: uint32(len(n.Objects)), FirstScript: uint32(len(n.Scripts)), Objects: more.Objects,
				Scripts: more.Scripts,
			})
			n.Objects = append(slices.Clip(n.Objects), more.Objects...)
			n.Scripts = append(slices.Clip(n.Scripts), more.Scripts...)
			n.Ranges = RangesOf(n.Scripts)
		case 4:
			if id != next && r.IntN(3) == 0 {
				c.Remove = append(c.Remove, id)
				delete(m.searches, id)
				delete(m.entries, id)
				delete(c.Used, id)
				kept := c.Entries[:0]
				for _, e := range c.Entries {
					if e.ID != id {
						kept = append(kept, e)
					}
				}
				c.Entries = kept
			}
		case 5:
			n.Used = Used{r.Uint32N(3): r.Int32N(9), 3 + r.Uint32N(3): r.Int32N(9)}
			c.Used[id] = n.Used
		}
	}
	return c
}

// modes changes modes by chance, in the model too.
func (m *model) modes(r *rand.Rand) map[ID]ModeChange {
	changes := map[ID]ModeChange{}
	for id, n := range m.searches {
		if r.IntN(3) > 0 {
			continue
		}
		change := ModeChange{
			Mode: Mode(r.IntN(int(modes))), Updated: time.UnixMilli(r.Int64N(1e12)), Changes: n.Status.Changes + 1,
		}
		n.Status.Mode, n.Status.Reason = change.Mode, ""
		n.Status.Updated, n.Status.Changes = change.Updated, change.Changes
		changes[id] = change
	}
	return changes
}

// write makes a change, and changes modes before or after that, which is the same.
func write(s *Store, r *rand.Rand, c *Change, modes map[ID]ModeChange) error {
	if r.IntN(2) == 0 {
		return errors.Join(s.Commit(c), s.SetModes(modes))
	}
	return errors.Join(s.SetModes(modes), s.Commit(c))
}

// outline says what a search is without its many scripts: to print them takes longer than to write them.
func outline(n *Search) string {
	if n == nil {
		return "none"
	}
	return fmt.Sprintf("%+v, %+v, used %v, %d objects, %d scripts", n.Definition, n.Status, n.Used, len(n.Objects),
		len(n.Scripts))
}

// differs tells where the store is not as the model.
func (m *model) differs(s *Store) error {
	list, err := s.Load()
	if err != nil {
		return err
	}
	if len(list) != len(m.searches) {
		return fmt.Errorf("%d searches, want %d", len(list), len(m.searches))
	}
	for _, n := range list {
		if !reflect.DeepEqual(n, m.searches[n.ID]) {
			return fmt.Errorf("search %v:\n got %s\nwant %s", n.ID, outline(n), outline(m.searches[n.ID]))
		}
		want := slices.Clone(m.entries[n.ID])
		slices.SortFunc(want, func(a, b Entry) int { return slices.Compare(a.Append(nil), b.Append(nil)) })
		var got []Entry
		err := s.Entries(n.ID, Place{}, LastOf(^uint32(0), 1<<30), func(at Place, e *search.Entry) bool {
			got = append(got, Entry{n.ID, at, *e})
			return true
		})
		if err != nil || len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			return fmt.Errorf("entries of %v: %w\n got %v\nwant %v", n.ID, err, got, want)
		}
	}
	return nil
}
