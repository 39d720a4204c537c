package coins

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/seed61375155/trawl/messages"
)

// A scan looks for the outputs that pay to some scripts.
type scan struct {
	pass    *coinScan
	scripts [][]byte
	packed  map[string]int // number of the script, by the forms it may be stored in

	visited atomic.Int64

	mu    sync.Mutex
	tip   messages.Tip
	found []messages.FoundCoin
}

// prepare works out what the scripts look like in the set.
func (s *scan) prepare(set messages.CoinSet) error {
	s.packed = make(map[string]int, len(s.scripts))
	for i, script := range s.scripts {
		for _, form := range set.Pack(script) {
			s.packed[string(form)] = i
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tip = set.Tip()
	return nil
}

// reader returns what a worker does with the outputs it reads.
func (s *scan) reader() (visit func(*messages.SetCoin) error, done func()) {
	// The count is shared so seldom that the workers do not meet over it.
	const often = 1024
	var visited int64
	visit = func(c *messages.SetCoin) error {
		if visited++; visited%often == 0 {
			s.visited.Add(often)
		}
		if i, ok := s.packed[string(c.Packed)]; ok {
			s.add(c, s.scripts[i])
		}
		return nil
	}
	return visit, func() { s.visited.Add(visited % often) }
}

func (s *scan) add(c *messages.SetCoin, script []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found = append(s.found, messages.FoundCoin{
		Out: c.Out, Script: script, Amount: c.Amount, Height: c.Height, Coinbase: c.Coinbase,
	})
}

// progress returns the percentage of the set that is read.
func (s *scan) progress() int { return int(s.pass.done.Load()) * 100 / shards }

// result returns what was found so far.
func (s *scan) result() messages.CoinScanResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := slices.Clone(s.found)
	slices.SortFunc(found, func(a, b messages.FoundCoin) int {
		return cmp.Or(bytes.Compare(a.Out.Hash[:], b.Out.Hash[:]), cmp.Compare(a.Out.Index, b.Out.Index))
	})
	return messages.CoinScanResult{
		Completed: s.pass.done.Load() == shards, Tip: s.tip, Visited: s.visited.Load(), Coins: found,
	}
}
