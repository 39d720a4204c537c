package feeestimate

import (
	"cmp"
	"slices"
)

// NextTarget is how many blocks an estimate by the next block is for.
const NextTarget = 2

// Covered is how many blocks say whether the pool has what is mined.
const Covered = 6

const coveredShare = 0.75 // of their weight that the pool must have had

// A Part is a part of the next block that is mined whole. Its rate is for 1,000 virtual bytes.
type Part struct{ Rate, Weight int64 }

// Next estimates by the parts of the next block, which are in the order of mining: the rate at half of a full block for
// conservative ones, else that at three quarters. Where the parts do not reach so far it is the floor.
func Next(parts []Part, full, floor int64, conservative bool) int64 {
	sorted := slices.Clone(parts) // rounded sizes may have changed the order
	slices.SortStableFunc(sorted, func(a, b Part) int { return cmp.Compare(b.Rate, a.Rate) })
	at := full * 3 / 4
	if conservative {
		at = full / 2
	}
	for _, part := range sorted {
		if at -= part.Weight; at <= 0 {
			return part.Rate
		}
	}
	return floor
}

// Mined is the weight of a block without its coinbase, and how much of it was in the pool.
type Mined struct {
	Height        int32
	Weight, Known int64
}

// A Coverage tells whether the pool has what is mined, by the last blocks. Its zero value knows none.
type Coverage struct{ blocks []Mined }

// Add notes a block. Blocks of its height and above do not count any more, and if there is a gap none before does.
func (c *Coverage) Add(m Mined) {
	c.blocks = slices.DeleteFunc(c.blocks, func(other Mined) bool { return other.Height >= m.Height })
	if n := len(c.blocks); n > 0 && c.blocks[n-1].Height != m.Height-1 {
		c.blocks = nil
	}
	c.blocks = append(c.blocks, m)
	if n := len(c.blocks); n > Covered {
		c.blocks = slices.Clone(c.blocks[n-Covered:])
	}
}

// Blocks returns the blocks that count, the latest first.
func (c *Coverage) Blocks() []Mined {
	list := slices.Clone(c.blocks)
	slices.Reverse(list)
	return list
}

// Reliable reports whether what is in the pool says what will be mined. Blocks that have less than one full block has,
// all together, say nothing against it.
func (c *Coverage) Reliable(full int64) bool {
	var weight, known int64
	for _, m := range c.blocks {
		weight, known = weight+m.Weight, known+m.Known
	}
	return len(c.blocks) == Covered && (weight < full || float64(known) >= coveredShare*float64(weight))
}
