// Package widen decides up to which index ranged descriptors are looked for: until as many unused indices follow the
// highest used one as a gap says. A [Plan] knows neither scripts nor blocks; [Rounds] are a plan with the scripts of
// its indices, and the blocks in which they were found.
//
// The result is the least range that satisfies the gap. To need few passes over the blocks, a [Plan] may look further
// ahead; an index beyond the least range does not count, even if it is used.
package widen

import (
	"math"
	"slices"
)

// A Range is the state of one descriptor.
type Range struct {
	First, Last int32 // indices, both included
	HighestUsed int32 // of them; -1: none
	Gap         int32

	// Exhausted is set where the range ends before the gap does: not all of it was looked for yet, or there are no
	// higher indices.
	Exhausted bool
}

// A Span is a part of a descriptor's indices, both included.
type Span struct {
	Number      int // of the descriptor
	First, Last int32
}

// A Plan is the ranges of some descriptors. The zero value has none.
type Plan struct{ all []state }

type state struct {
	Range

	looked int32   // up to which indices were given out by Next; First-1 at first
	beyond []int32 // used indices above Last, ascending, each once
}

// Add adds a descriptor with the range that it is looked for in any case, and a gap of at least 1. It returns the
// descriptor's number: 0, 1 and so on.
func (p *Plan) Add(first, last, gap int32) int {
	s := state{Range: Range{First: first, Last: last, HighestUsed: -1, Gap: gap}, looked: first - 1}
	s.reach(first - 1)
	p.all = append(p.all, s)
	return len(p.all) - 1
}

// reach makes the range end a gap behind an index, or later.
func (s *state) reach(index int32) { s.Last = Last(s.First, s.Last, index, s.Gap) }

// Last returns the last index of the least range that satisfies a gap and contains a given range. The highest used
// index is lower than first where none is used.
func Last(first, last, highest, gap int32) int32 {
	least := max(int64(highest), int64(first)-1) + int64(gap)
	return int32(max(int64(last), min(least, math.MaxInt32)))
}

// Use notes that something was found for an index, which Next has given out.
func (p *Plan) Use(number int, index int32) {
	s := &p.all[number]
	if index < s.First || index > s.looked {
		return
	}
	if index > s.Last {
		if at, there := slices.BinarySearch(s.beyond, index); !there {
			s.beyond = slices.Insert(s.beyond, at, index)
		}
		return
	}
	s.use(index)
	for len(s.beyond) > 0 && s.beyond[0] <= s.Last {
		s.use(s.beyond[0])
		s.beyond = s.beyond[1:]
	}
}

func (s *state) use(index int32) {
	s.HighestUsed = max(s.HighestUsed, index)
	s.reach(index)
}

// Next returns the indices to look for next, in all blocks; nil: the ranges satisfy their gaps. At most ahead of them
// are given out earlier than they are needed. No index is given out twice.
func (p *Plan) Next(ahead int) (spans []Span) {
	for number := range p.all {
		s := &p.all[number]
		if s.looked >= s.Last {
			continue
		}
		last := int64(s.Last)
		if s.looked >= s.First { // the first widening was not enough: many may be used
			doubled := int64(s.looked) + min(int64(s.looked)-int64(s.First)+1, maxAhead)
			further := min(max(doubled-last, 0), math.MaxInt32-last, int64(max(ahead, 0)))
			ahead -= int(further)
			last += further
		}
		spans = append(spans, Span{Number: number, First: s.looked + 1, Last: int32(last)})
		s.looked = int32(last)
	}
	return spans
}

// maxAhead bounds how many indices of a descriptor are given out at a time before they are needed.
const maxAhead = 100_000

// Needed returns how many indices of a descriptor are yet to be given out, as far as is known.
func (p *Plan) Needed(number int) int {
	s := &p.all[number]
	return int(max(int64(s.Last)-int64(s.looked), 0))
}

// Has reports whether an index belongs to the range of a descriptor as far as that is known.
func (p *Plan) Has(number int, index int32) bool {
	s := &p.all[number]
	return s.First <= index && index <= s.Last
}

// Range returns the range of a descriptor.
func (p *Plan) Range(number int) Range {
	s := &p.all[number]
	r := s.Range
	r.Exhausted = s.looked < s.Last || int64(s.Last) < max(int64(s.HighestUsed), int64(s.First)-1)+int64(s.Gap)
	r.Last = min(s.Last, s.looked)
	return r
}
