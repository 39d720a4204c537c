// Package search is a search as pure data: the blocks that were looked at for each of
// its scripts, the entries that were found, and their order in the list.
//
// The list of entries only grows. It is kept in epochs: within an epoch, entries are in the
// order of the chain. A new epoch begins where blocks leave the chain, with an entry for each
// of them, and where scripts join for which lower blocks have yet to be looked at.
package search

import (
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// A Block is a place in a chain. Its height is -1 below the genesis block.
type Block struct {
	Height int32
	Hash   chainhash.Hash
}

// Joined says up to which height blocks were looked at for some scripts: those from a number
// on, up to the next Joined.
type Joined struct {
	First uint32
	From  int32 // the first height that they are looked for at
	Done  int32 // where it is lower than the height done of the search, that counts
}

// passed returns the height up to which there is nothing to look at.
func (j *Joined) passed() int32 { return max(j.Done, j.From-1) }

// deep is how far below the height done scripts that joined at different heights share one Joined. If more blocks
// leave the chain, all these scripts are looked for from the lowest of these heights on.
const deep = 1000

// State is how far a search has come. Its slice is replaced, and never changed in place: a copy keeps its
// content.
type State struct {
	Start  int32 // the lowest height that any script is looked for at
	From   int32 // from which on blocks were looked at for all scripts: Start, or higher
	Done   Block // all blocks up to it were looked at for all scripts
	Top    Block // the highest block that was looked at for any
	Joined []Joined
	Epoch  uint32 // of the entries to come
	Found  uint64 // entries
	Blocks uint64 // that have entries
}

// NewState returns the state of a search that has looked at nothing. below is the block
// before its first.
func NewState(below Block) State {
	return State{
		Start: below.Height + 1, From: below.Height + 1, Done: below, Top: below, Joined: []Joined{
			{0, below.Height + 1, below.Height},
		},
	}
}

// Next returns the first height that was not looked at for all scripts.
func (s *State) Next() int32 { return s.Done.Height + 1 }

// Wanted returns the scripts that blocks from [State.Next] on are to be looked at for, as
// ranges of numbers, and the height up to which these are wanted. The number of all
// scripts is count.
func (s *State) Wanted(count uint32) (ranges [][2]uint32, to int32) {
	to = 1<<31 - 1
	for i, j := range s.Joined {
		end := count
		if i+1 < len(s.Joined) {
			end = s.Joined[i+1].First
		}
		if passed := j.passed(); passed > s.Done.Height {
			to = min(to, passed)
			continue
		}
		if n := len(ranges); n > 0 && ranges[n-1][1] == j.First {
			ranges[n-1][1] = end
			continue
		}
		ranges = append(ranges, [2]uint32{j.First, end})
	}
	return ranges, to
}

// Advance notes that the blocks up to one were looked at for the scripts that were wanted, and what was found in
// them. The function counted reports whether the block of a height was counted before, for other scripts.
func (s *State) Advance(to Block, found []Entry, counted func(height int32) bool) {
	s.Done = to
	if to.Height >= s.Top.Height {
		s.Top = to
	}
	s.Joined = together(s.Joined, to.Height)
	s.Found += uint64(len(found))
	for i := range found {
		if (i == 0 || found[i].Height != found[i-1].Height) && !counted(found[i].Height) {
			s.Blocks++
		}
	}
}

// together merges neighbours that are to be looked for in the same blocks next.
func together(joined []Joined, done int32) (some []Joined) {
	for _, j := range joined {
		if n := len(some); n > 0 {
			last := &some[n-1]
			same := last.From == j.From || max(last.From, j.From) < done-deep
			if same && last.Done <= done && j.Done <= done {
				last.From = min(last.From, j.From)
				continue
			}
		}
		some = append(some, j)
	}
	return some
}

// Extend adds scripts from a number on, for which blocks from a height on are to be
// looked at.
func (s *State) Extend(first uint32, from int32) {
	from = max(from, 0)
	s.From, s.Start = max(s.From, from), min(s.Start, from)
	joined := slices.Clone(s.Joined)
	for i := range joined {
		joined[i].Done = max(joined[i].Done, s.Done.Height)
	}
	s.Joined = append(joined, Joined{First: first, From: from, Done: from - 1})
	if from <= s.Done.Height {
		s.Epoch++
	}
}

// Rewind sets the height done lower: to the block before the first that a script that joined
// has to be looked for in. at returns the block of a height.
func (s *State) Rewind(at func(height int32) Block) {
	lowest := s.Done.Height
	for _, j := range s.Joined {
		lowest = min(lowest, j.passed())
	}
	if lowest < s.Done.Height {
		s.Done = at(lowest)
	}
}

// Disconnect takes back the blocks above stays. It returns an entry for each block of left
// that was looked at: left has the blocks that have left the chain, the highest first.
func (s *State) Disconnect(stays Block, left []Block) []Entry {
	entries := make([]Entry, 0, len(left))
	for _, b := range left {
		if b.Height >= s.Start && b.Height <= s.Top.Height {
			entries = append(entries, Entry{Kind: Disconnect, Height: b.Height, Block: b.Hash})
		}
	}
	joined := slices.Clone(s.Joined)
	for i := range joined {
		if joined[i].Done <= s.Top.Height {
			joined[i].Done = min(joined[i].Done, stays.Height)
		}
	}
	s.Joined, s.Top = joined, stays
	if s.Done.Height > stays.Height {
		s.Done = stays
	}
	s.Epoch++
	s.Found += uint64(len(entries))
	return entries
}
