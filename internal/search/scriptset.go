package search

import (
	"bytes"
	"hash/maphash"
)

// A ScriptSet holds each script once, in the order they came; the zero value is empty. It
// keeps the given slices, which nobody may change. Without writers it is safe for
// concurrent use.
//
// The hash has a secret, so that nobody can choose scripts that collide.
type ScriptSet struct {
	seed  maphash.Seed
	list  [][]byte
	cells []uint64 // by open addressing: upper half of the hash, then place in list + 1; 0 is free
}

// minCells is how many cells there are at least; it is a power of two.
const minCells = 16

// NewScriptSet returns an empty set with room for n scripts.
func NewScriptSet(n int) *ScriptSet {
	s := &ScriptSet{list: make([][]byte, 0, n)}
	s.rehash(n)
	return s
}

// Len returns the number of scripts.
func (s *ScriptSet) Len() int { return len(s.list) }

// List returns the scripts. It is the set's own.
func (s *ScriptSet) List() [][]byte { return s.list }

// Has reports whether the set has a script.
func (s *ScriptSet) Has(script []byte) bool {
	if len(s.list) == 0 {
		return false
	}
	_, has := s.find(maphash.Bytes(s.seed, script), script)
	return has
}

// Find returns the place of a script in the list.
func (s *ScriptSet) Find(script []byte) (place int, has bool) {
	if len(s.list) == 0 {
		return 0, false
	}
	at, has := s.find(maphash.Bytes(s.seed, script), script)
	if !has {
		return 0, false
	}
	return int(uint32(s.cells[at])) - 1, true
}

// Add adds a script, and reports whether it was not there yet.
func (s *ScriptSet) Add(script []byte) bool {
	if 2*(len(s.list)+1) > len(s.cells) {
		s.rehash(2 * (len(s.list) + 1))
	}
	hash := maphash.Bytes(s.seed, script)
	at, has := s.find(hash, script)
	if has {
		return false
	}
	s.list = append(s.list, script)
	s.cells[at] = cell(hash, len(s.list))
	return true
}

// cell is what stands for the script at place-1 of the list.
func cell(hash uint64, place int) uint64 { return hash>>32<<32 | uint64(uint32(place)) }

// find returns the cell of a script, or the free cell that it would take.
func (s *ScriptSet) find(hash uint64, script []byte) (at int, has bool) {
	mask := len(s.cells) - 1
	for at = int(hash) & mask; s.cells[at] != 0; at = (at + 1) & mask {
		if c := s.cells[at]; c>>32 == hash>>32 && bytes.Equal(s.list[uint32(c)-1], script) {
			return at, true
		}
	}
	return at, false
}

// rehash makes cells for n scripts, of which at most half are in use then.
func (s *ScriptSet) rehash(n int) {
	if s.cells == nil {
		s.seed = maphash.MakeSeed()
	}
	size := minCells
	for size < 2*n {
		size *= 2
	}
	s.cells = make([]uint64, size)
	for i, script := range s.list {
		hash := maphash.Bytes(s.seed, script)
		at := int(hash) & (size - 1)
		for s.cells[at] != 0 {
			at = (at + 1) & (size - 1)
		}
		s.cells[at] = cell(hash, i+1)
	}
}
