package searches

import (
	"slices"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/store/searchdb"
)

// owner is a script of a search.
type owner struct{ member, number uint32 } // its place in the merged query, and the script's there

// mergedQuery is the scripts of the members of a round. Later rounds have mostly the same.
type mergedQuery struct {
	of      []wanted
	places  map[searchdb.ID]int // in of
	scripts int                 // of all of them
	query   *filters.Query
	first   []owner            // of each script
	more    map[uint32][]owner // all owners of those that have several
}

// wanted says which scripts a member brought.
type wanted struct {
	id     searchdb.ID
	ranges [][2]uint32
}

func (w *wanted) count() (n int) {
	for _, r := range w.ranges {
		n += int(r[1] - r[0])
	}
	return n
}

func newMergedQuery(members []*member) *mergedQuery {
	u := &mergedQuery{places: make(map[searchdb.ID]int, len(members)), more: map[uint32][]owner{}}
	for i, m := range members {
		w := wanted{m.ID, m.ranges}
		u.of, u.places[m.ID] = append(u.of, w), i
		u.scripts += w.count()
	}
	u.query = filters.QueryOf(func(yield func([]byte) bool) {
		for _, m := range members {
			for _, r := range m.ranges {
				for n := r[0]; n < r[1]; n++ {
					if !yield(m.scripts[n].Script) {
						return
					}
				}
			}
		}
	}, u.scripts)
	u.own(members)
	return u
}

// own notes whose each script is. That a query has them in the order in which they came first shows
// which come again.
func (u *mergedQuery) own(members []*member) {
	u.first = make([]owner, 0, u.query.Len())
	for i, m := range members {
		for _, r := range m.ranges {
			for n := r[0]; n < r[1]; n++ {
				at, _ := u.query.Place(m.scripts[n].Script)
				own, place := owner{uint32(i), n}, uint32(at)
				if at == len(u.first) {
					u.first = append(u.first, own)
					continue
				}
				if u.more[place] == nil {
					u.more[place] = []owner{u.first[place]}
				}
				u.more[place] = append(u.more[place], own)
			}
		}
	}
}

// Find implements search.Finder.
func (u *mergedQuery) Find(script []byte) (number int, ok bool) {
	if !u.query.HasScript(script) { // which is faster where it has not
		return 0, false
	}
	return u.query.Place(script)
}

// ownersOf returns whose a script is.
func (u *mergedQuery) ownersOf(script uint32) []owner {
	if all := u.more[script]; all != nil {
		return all
	}
	return u.first[script : script+1]
}

// A merged query may have scripts that a round does not need, as long as they are few.
const (
	fewScripts = 1000
	fewShare   = 4 // of those that are needed
)

// has reports whether the merged query serves some members.
func (u *mergedQuery) has(members []*member) bool {
	if u == nil {
		return false
	}
	needed := 0
	for _, m := range members {
		at, ok := u.places[m.ID]
		if !ok || !slices.Equal(u.of[at].ranges, m.ranges) {
			return false
		}
		needed += u.of[at].count()
	}
	return u.scripts-needed <= max(fewScripts, needed/fewShare)
}

// numbered returns members by their places in the merged query, nil for those that are not among them.
func (u *mergedQuery) numbered(members []*member) []*member {
	all := make([]*member, len(u.of))
	for _, m := range members {
		all[u.places[m.ID]] = m
	}
	return all
}

// mergedQueries are the merged queries of the last rounds, the latest first. While some searches come up with
// others, rounds of the same searches come in turn.
type mergedQueries []*mergedQuery

const (
	maxMergedQueries = 4
	keptForScripts   = 2_000_000 // of all but the last
)

// of returns a merged query that serves some members, nil if there is none.
func (us *mergedQueries) of(members []*member) *mergedQuery {
	for _, u := range *us {
		if u.has(members) {
			return u
		}
	}
	return nil
}

// used puts a merged query first, and drops the oldest merged queries beyond maxMergedQueries and keptForScripts.
func (us *mergedQueries) used(u *mergedQuery) {
	kept, scripts := mergedQueries{u}, 0
	for _, old := range *us {
		if old == u || len(kept) == maxMergedQueries || scripts+old.scripts > keptForScripts {
			continue
		}
		kept, scripts = append(kept, old), scripts+old.scripts
	}
	*us = kept
}

// drop forgets those with a search that is gone.
func (us *mergedQueries) drop(id searchdb.ID) {
	*us = slices.DeleteFunc(*us, func(u *mergedQuery) bool {
		_, has := u.places[id]
		return has
	})
}
