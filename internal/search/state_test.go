package search_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/search"
)

// chain is a chain by chance: each block has entries of some scripts.
type chain struct {
	r      *rand.Rand
	blocks []chainhash.Hash
	has    map[chainhash.Hash][]uint32 // numbers of scripts

	counted uint64 // blocks in which something was found
}

func (c *chain) mine(n int) {
	for range n {
		hash := chainhash.HashH(fmt.Append(nil, c.r.Uint64()))
		for script := range uint32(12) {
			if c.r.IntN(3) == 0 {
				c.has[hash] = append(c.has[hash], script)
			}
		}
		c.blocks = append(c.blocks, hash)
	}
}

func (c *chain) at(height int32) search.Block {
	if height < 0 {
		return search.Block{Height: -1}
	}
	return search.Block{Height: height, Hash: c.blocks[height]}
}

// oracle is for which scripts, from which heights on.
type oracle map[uint32]int32

// The entries of the list add up to the content of the blocks, for any steps of chain and users.
// At the height done, each script is counted in the blocks from the height on that it was asked
// for.
func TestState(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := &chain{r: r, has: map[chainhash.Hash][]uint32{}}
		c.mine(20)
		start := r.Int32N(20)
		s := search.NewState(c.at(start - 1))
		count := 1 + r.Uint32N(3)
		asked := oracle{}
		for script := range count {
			asked[script] = start
		}
		sums := map[chainhash.Hash]map[uint32]int{}
		epoch, listed := s.Epoch, uint64(0)
		for range 40 {
			switch n := r.IntN(10); {
			case n < 6:
				advance(c, &s, count, sums, &listed)
			case n < 7:
				c.mine(1 + r.IntN(3))
			case n < 9:
				stays := int32(len(c.blocks)) - 1 - r.Int32N(6)
				disconnect(c, &s, stays, sums, &listed)
				c.mine(1 + r.IntN(8))
			case count < 12:
				from := r.Int32N(int32(len(c.blocks)))
				s.Extend(count, from)
				asked[count] = from
				count++
				s.Rewind(c.at)
			}
			if s.Epoch < epoch {
				t.Fatalf("seed %d: epoch %d after %d", seed, s.Epoch, epoch)
			}
			epoch = s.Epoch
			if s.Top.Height < s.Done.Height || s.Done != c.at(s.Done.Height) || s.Top != c.at(s.Top.Height) {
				t.Fatalf("seed %d: %+v is not on the chain", seed, s)
			}
		}
		for s.Next() < int32(len(c.blocks)) {
			advance(c, &s, count, sums, &listed)
		}
		if s.Found != listed || s.Blocks != c.counted {
			t.Fatalf("seed %d: %d entries in %d blocks, counted %d in %d", seed, listed, c.counted, s.Found, s.Blocks)
		}
		for h, hash := range c.blocks {
			for _, script := range c.has[hash] {
				from, is := asked[script]
				want := 0
				if is && int32(h) >= from {
					want = 1
				}
				if got := sums[hash][script]; got != want {
					t.Fatalf(
						"seed %d: block %d has script %d %d times, want %d: %+v", seed, h, script, got, want, asked,
					)
				}
			}
			delete(sums, hash)
		}
		for hash, left := range sums {
			if len(left) > 0 {
				t.Fatalf("seed %d: entries of block %v, which has left the chain", seed, hash)
			}
		}
	}
}

// advance looks at some of the next blocks.
func advance(c *chain, s *search.State, count uint32, sums map[chainhash.Hash]map[uint32]int, listed *uint64) {
	ranges, to := s.Wanted(count)
	to = min(to, s.Done.Height+1+c.r.Int32N(5), int32(len(c.blocks))-1)
	if to < s.Next() {
		return
	}
	var found []search.Entry
	for h := s.Next(); h <= to; h++ {
		for _, script := range c.has[c.blocks[h]] {
			for _, wanted := range ranges {
				if wanted[0] <= script && script < wanted[1] {
					found = append(
						found, search.Entry{Kind: search.Receive, Height: h, Block: c.blocks[h], Script: script},
					)
				}
			}
		}
	}
	counted := map[int32]bool{}
	for h := s.Next(); h <= to; h++ {
		counted[h] = sums[c.blocks[h]] != nil
	}
	for _, e := range found {
		if sums[e.Block] == nil {
			sums[e.Block] = map[uint32]int{}
			c.counted++
		}
		sums[e.Block][e.Script]++
	}
	*listed += uint64(len(found))
	s.Advance(c.at(to), found, func(height int32) bool { return counted[height] })
}

func never(int32) bool { return false }

// disconnect has the blocks above one leave the chain.
func disconnect(
	c *chain, s *search.State, stays int32, sums map[chainhash.Hash]map[uint32]int, listed *uint64,
) {
	if stays >= s.Top.Height {
		c.blocks = c.blocks[:stays+1]
		return
	}
	var left []search.Block
	for h := s.Top.Height; h > stays; h-- {
		left = append(left, c.at(h))
	}
	for _, e := range s.Disconnect(c.at(stays), left) {
		delete(sums, e.Block)
		*listed++
	}
	c.blocks = c.blocks[:stays+1]
}

// Scripts that joined at different heights are looked for from the lowest of these on where a reorganisation goes
// deeper than they are told apart.
func TestDeepReorganisation(t *testing.T) {
	c := &chain{r: rand.New(rand.NewPCG(1, 1)), has: map[chainhash.Hash][]uint32{}}
	c.mine(3001)
	s := search.NewState(c.at(-1))
	s.Advance(c.at(1500), nil, never)
	s.Extend(1, 1400)
	s.Rewind(c.at)
	s.Advance(c.at(3000), nil, never)
	s.Disconnect(c.at(100), []search.Block{c.at(3000)})
	if ranges, to := s.Wanted(2); len(ranges) != 1 || ranges[0][0] != 0 {
		t.Errorf("above height 100 scripts %v are looked for, up to %d", ranges, to)
	}
}
