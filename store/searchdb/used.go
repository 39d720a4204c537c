package searchdb

import (
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/seed61375155/trawl/store/internal/ledger"
)

// A Range is the indices at which a scan object was derived, both included.
type Range struct {
	Object      uint32 // number
	First, Last int32
}

// RangesOf returns the ranges of the objects that some scripts are of, in the order of their numbers. An object
// without a range has none, and neither has an object whose scripts all belong to other objects.
func RangesOf(scripts []Script) []Range {
	var all []Range
	places := map[uint32]int{}
	at := -1 // of the object before, whose scripts come together
	for i := range scripts {
		s := &scripts[i]
		if s.Index < 0 {
			continue
		}
		if at < 0 || all[at].Object != s.Object {
			var known bool
			if at, known = places[s.Object]; !known {
				at = len(all)
				places[s.Object] = at
				all = append(all, Range{s.Object, s.Index, s.Index})
			}
		}
		all[at].First, all[at].Last = min(all[at].First, s.Index), max(all[at].Last, s.Index)
	}
	slices.SortFunc(all, func(a, b Range) int { return cmp.Compare(a.Object, b.Object) })
	return all
}

// Used is the highest index of each object with a range at which something was found, also in blocks that have left
// the chain. Objects of which nothing was found are not in it.
type Used map[uint32]int32

// Add notes that something was found for a script.
func (u Used) Add(s *Script) {
	if s.Index < 0 {
		return
	}
	if highest, ok := u[s.Object]; !ok || s.Index > highest {
		u[s.Object] = s.Index
	}
}

// Merge notes all that another has. It reports whether that changed anything.
func (u Used) Merge(other Used) (changed bool) {
	for object, index := range other {
		if highest, ok := u[object]; !ok || index > highest {
			u[object], changed = index, true
		}
	}
	return changed
}

// Gaps has the objects of a search whose ranges widen, each with how many unused indices are to follow the highest
// used one.
type Gaps map[uint32]int32

// put puts the gaps of a search, if there are any.
func (g Gaps) put(b *ledger.Batch, id ID) {
	if len(g) > 0 {
		put(b, key(gapsPrefix, id), encodePairs(g))
	}
}

// encodePairs encodes a number of each of some objects.
func encodePairs(pairs map[uint32]int32) []byte {
	b := binary.AppendUvarint(nil, uint64(len(pairs)))
	for _, object := range slices.Sorted(maps.Keys(pairs)) {
		b = binary.AppendVarint(binary.AppendUvarint(b, uint64(object)), int64(pairs[object]))
	}
	return b
}

// decodePairs is the inverse of encodePairs; what names the pairs in an error.
func decodePairs(raw []byte, what string) (map[uint32]int32, error) {
	r := decoder{rest: raw}
	pairs := map[uint32]int32{}
	for n := r.uint(); n > 0 && !r.bad; n-- {
		object, number := r.uint32(), r.int32()
		pairs[object] = number
		r.bad = r.bad || number < 0
	}
	return pairs, r.end(what)
}

// loadGaps reads the gaps of a search.
func (s *Store) loadGaps(n *Search) error {
	k := key(gapsPrefix, n.ID)
	raw, err := s.ledger.Load().Get(k)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil
	}
	if err == nil {
		raw, err = checked(k, raw)
	}
	if err == nil {
		n.Gaps, err = decodePairs(raw, "gaps of a search")
	}
	return err
}

// loadUsed reads which indices are used. Where nothing was found, none are.
func (s *Store) loadUsed(n *Search) error {
	k := key(usedPrefix, n.ID)
	raw, err := s.ledger.Load().Get(k)
	if errors.Is(err, ledger.ErrNotFound) {
		if n.Status.Found == 0 {
			n.Used = make(Used)
		}
		return nil
	}
	if err == nil {
		raw, err = checked(k, raw)
	}
	if err == nil {
		n.Used, err = decodePairs(raw, "used indices of a search")
	}
	return err
}
