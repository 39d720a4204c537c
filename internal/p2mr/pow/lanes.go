package pow

import (
	"math/big"
	"sync"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
)

// halfLife is in how many seconds a lane that finds no block halves its
// difficulty.
const halfLife = 7200

// A Lane is a way to mine.
type Lane int

// The lanes, and how many there are.
const (
	Permissionless Lane = iota
	MergeMined
	Lanes
)

// spacings are the seconds between two blocks of a lane.
var spacings = [Lanes]int64{75, 300}

// allSpacing is the seconds between two blocks, of any lane.
const allSpacing = 60

// MergedShare returns the share of merge-mined blocks among all, by the seconds between blocks.
func MergedShare() float64 {
	own := float64(spacings[Permissionless])
	return own / (own + float64(spacings[MergeMined]))
}

// A Place is what the targets need to know of the chain up to a block.
type Place struct {
	merged int32 // merge-mined blocks, the block included
	last   [Lanes]laneTip
}

// A laneTip is the last block of a lane.
type laneTip struct {
	block  *chainview.Block // nil: there is none
	merged int32            // merge-mined blocks up to it
}

// After returns the place of a block of a lane whose parent has the place p. The place
// before the genesis block, which is of the permissionless lane, is the zero one.
func (p Place) After(b *chainview.Block, of Lane) Place {
	if of == MergeMined {
		p.merged++
	}
	p.last[of] = laneTip{b, p.merged}
	return p
}

// Bits returns the compact target of a block of a lane with a time, in seconds, on top
// of parent, which has that place.
func (p *Params) Bits(parent *chainview.Block, place *Place, of Lane, time int64) uint32 {
	last := place.last[of]
	return p.required(parent, of, time, last.block, last.merged)
}

// required is the compact target of a block of a lane on top of parent. The lane's
// last block is last, nil if there is none; merged is the number of merge-mined
// blocks up to last.
func (p *Params) required(
	parent *chainview.Block, of Lane, time int64, last *chainview.Block, merged int32,
) uint32 {
	lanes, spacing := parent.Height+1 >= p.Cadence, spacings[of]
	if !lanes {
		spacing = allSpacing
	}
	late := p.MinDifficulty && time > parent.Time().Unix()+2*spacing
	switch {
	case p.Difficulty == FixedDifficulty:
		return parent.Bits()
	case p.Difficulty == Periodic:
		return p.PeriodBits(parent, late)
	case late:
		return p.LimitBits
	case !lanes:
		return asert(
			p.Anchors.Permissionless, parent.Time().Unix()-p.Start, int64(parent.Height), spacing, p.Limit,
		)
	}
	anchor := p.Anchors.Permissionless
	if of == MergeMined {
		anchor = p.Anchors.AuxPoW
	}
	if last == nil {
		return anchor
	}
	done := merged
	if of == Permissionless {
		done = last.Height - merged
	}
	return asert(anchor, last.Time().Unix()-p.Start, int64(done), spacing, p.Limit)
}

// NextBits returns a function that tells readers the compact target of a block of a lane
// with a time, in seconds, on top of any block. It is safe for concurrent use, and
// remembers the last one, for it counts the merge-mined blocks.
func (p *Params) NextBits(of Lane) func(parent *chainview.Block, time int64) uint32 {
	var mu sync.Mutex
	var known *chainview.Block
	var counted int32 // merge-mined blocks up to known
	count := func(tip *chainview.Block) (merged int32) {
		for at := tip; at != nil; at = at.Parent {
			if at.Is(known) {
				return merged + counted
			}
			if LaneOf(at) == MergeMined {
				merged++
			}
		}
		return merged
	}
	return func(parent *chainview.Block, time int64) uint32 {
		mu.Lock()
		defer mu.Unlock()
		known, counted = parent, count(parent)
		last, merged := parent, counted
		if of == MergeMined && counted == 0 {
			last = nil // without a walk over the whole chain
		}
		for last != nil && LaneOf(last) != of {
			if LaneOf(last) == MergeMined {
				merged--
			}
			last = last.Parent
		}
		return p.required(parent, of, time, last, merged)
	}
}

// LaneOf returns the lane of a block of a tree.
func LaneOf(b *chainview.Block) Lane {
	if auxPoWVersion(uint32(b.Version())) {
		return MergeMined
	}
	return Permissionless
}

// asert returns the compact target after so many blocks in so many seconds,
// which halves or doubles with each half-life that they are ahead or behind.
func asert(anchor uint32, seconds, blocks, spacing int64, limit *big.Int) uint32 {
	return consensus.TargetBits(asertTarget(anchor, seconds, blocks, spacing, limit))
}

func asertTarget(anchor uint32, seconds, blocks, spacing int64, limit *big.Int) *big.Int {
	const one = 1 << 16 // of fixed-point numbers
	exponent := new(big.Int).Mul(big.NewInt(seconds-spacing*blocks), big.NewInt(one))
	exponent.Quo(exponent, big.NewInt(halfLife)) // towards zero
	e := exponent.Int64()
	shift, fraction := e>>16, uint64(e&(one-1))
	// 2^fraction by a cubic polynomial.
	factor := one + (195766423245049*fraction+971821376*fraction*fraction+5127*fraction*fraction*fraction+1<<47)>>48

	next := new(big.Int).Mul(consensus.TargetOf(anchor), new(big.Int).SetUint64(factor))
	switch shift -= 16; {
	case shift <= 0:
		next.Rsh(next, uint(min(-shift, 1<<10)))
	case shift > 1<<9:
		return limit
	default:
		next.Lsh(next, uint(shift))
	}
	if next.Sign() == 0 {
		return big.NewInt(1)
	}
	if next.Cmp(limit) > 0 {
		return limit
	}
	return next
}
