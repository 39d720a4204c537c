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

func (u Used) encode() []byte {
	b := binary.AppendUvarint(nil, uint64(len(u)))
	for _, object := range slices.Sorted(maps.Keys(u)) {
		b = binary.AppendVarint(binary.AppendUvarint(b, uint64(object)), int64(u[object]))
	}
	return b
}

func decodeUsed(raw []byte) (Used, error) {
	r := decoder{rest: raw}
	u := make(Used)
	for n := r.uint(); n > 0 && !r.bad; n-- {
		object, index := r.uint32(), r.int32()
		u[object] = index
		r.bad = r.bad || index < 0
	}
	return u, r.end("used indices of a search")
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
		n.Used, err = decodeUsed(raw)
	}
	return err
}
