package widen

import (
	"iter"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
)

// An Owner is the descriptor and the index that a script is of.
type Owner struct {
	Number int32 // in the plan; -1: its range does not widen
	Index  int32
}

// A Sighting is a script in a block.
type Sighting struct {
	Script []byte
	Owners []Owner
}

// Rounds look at all blocks one after the other. Each looks for the scripts of further indices, as the plan says.
// Rounds are for one goroutine at a time.
type Rounds struct {
	Plan

	Scripts int // of all rounds

	round  *filters.QueryBuilder // nil: no round has begun
	owners []Owner               // of the scripts of the round, by their places in the query
	others []other               // of scripts that have more than one
	found  map[chainhash.Hash][]Sighting
}

// other is a further owner of a script.
type other struct {
	script []byte
	Owner
}

// Begin begins a round with room for some scripts, unless one has begun.
func (r *Rounds) Begin(scripts int) {
	if r.round == nil {
		r.round = filters.NewQueryBuilder(scripts)
	}
}

// Begun reports whether a round has begun that was not taken.
func (r *Rounds) Begun() bool { return r.round != nil }

// AddScripts adds the scripts of an index to the round.
func (r *Rounds) AddScripts(o Owner, scripts [][]byte) {
	r.Scripts += len(scripts)
	for _, script := range scripts {
		if r.round.Add(script) {
			r.owners = append(r.owners, o)
		} else if o.Number >= 0 {
			r.others = append(r.others, other{slices.Clone(script), o})
		}
	}
}

// Query returns the scripts of the round that has begun.
func (r *Rounds) Query() *filters.Query { return r.round.Query() }

// Owners returns the owners of the scripts of the round, by their places in the query. A script that has more than one
// has the first.
func (r *Rounds) Owners() []Owner { return r.owners }

// Sought visits the scripts of the round that has begun, each once for each of its owners.
func (r *Rounds) Sought() iter.Seq2[[]byte, Owner] {
	return func(yield func([]byte, Owner) bool) {
		q := r.Query()
		for script := range q.Scripts() {
			if place, _ := q.Place(script); !yield(script, r.owners[place]) {
				return
			}
		}
		for _, o := range r.others {
			if !yield(o.script, o.Owner) {
				return
			}
		}
	}
}

// Take takes what the round has found, and ends it: blocks, and for each of them the places of its scripts in the
// query. The error is that of ended, which is asked in between whether to end: then nothing was taken.
func (r *Rounds) Take(q *filters.Query, blocks []chainhash.Hash, uses [][]uint32, ended func() error) error {
	defer func() { r.round, r.owners, r.others = nil, nil, nil }()
	used, err := r.used(q, uses, ended)
	if err != nil || len(used) == 0 {
		return err
	}
	if r.found == nil {
		r.found = map[chainhash.Hash][]Sighting{}
	}
	for i, block := range blocks {
		for _, place := range uses[i] {
			r.found[block] = append(r.found[block], *used[place])
		}
	}
	for _, s := range used {
		for _, o := range s.Owners {
			if o.Number >= 0 {
				r.Use(int(o.Number), o.Index)
			}
		}
	}
	return nil
}

// used returns the scripts that were found, by their places in the query.
func (r *Rounds) used(q *filters.Query, uses [][]uint32, ended func() error) (map[uint32]*Sighting, error) {
	used := map[uint32]*Sighting{}
	for _, places := range uses {
		for _, place := range places {
			if used[place] == nil {
				used[place] = &Sighting{Owners: []Owner{r.owners[place]}}
			}
		}
	}
	if len(used) == 0 {
		return nil, ended()
	}
	for _, o := range r.others {
		if place, has := q.Place(o.script); has && used[uint32(place)] != nil {
			s := used[uint32(place)]
			s.Owners = append(s.Owners, o.Owner)
		}
	}
	for script := range q.Scripts() {
		if err := ended(); err != nil {
			return nil, err
		}
		place, _ := q.Place(script)
		if s := used[uint32(place)]; s != nil {
			s.Script = slices.Clone(script)
		}
	}
	return used, nil
}

// Counts reports whether a script counts: at least one of its indices is not beyond the range.
func (r *Rounds) Counts(s *Sighting) bool {
	_, counts := r.OwnerOf(s)
	return counts
}

// OwnerOf returns the first owner of a script whose range has the index, if there is one.
func (r *Rounds) OwnerOf(s *Sighting) (Owner, bool) {
	for _, o := range s.Owners {
		if r.HasIndex(o) {
			return o, true
		}
	}
	return Owner{}, false
}

// HasIndex reports whether the range of an owner has its index, or does not widen.
func (r *Rounds) HasIndex(o Owner) bool { return o.Number < 0 || r.Has(int(o.Number), o.Index) }

// Found visits the scripts that count and were found, block by block in any order. A script comes once for each of its
// blocks.
func (r *Rounds) Found(visit func(block chainhash.Hash, s *Sighting)) {
	for block, sightings := range r.found {
		for i := range sightings {
			if r.Counts(&sightings[i]) {
				visit(block, &sightings[i])
			}
		}
	}
}
