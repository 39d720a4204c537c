package p2mr

import (
	"math/big"
	"sync"
	"time"

	"github.com/btcsuite/btcd/blockchain"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
)

// halfLife is in how many seconds a lane that finds no block halves its
// difficulty.
const halfLife = 7200

// A lane is a way to mine.
type lane int

const (
	permissionless lane = iota
	mergeMined
	lanes
)

// spacings are the seconds between two blocks of a lane.
var spacings = [lanes]int64{75, 300}

// A place is what the difficulty needs to know of the chain up to a block.
type place struct {
	merged int32                   // merge-mined blocks, the block included
	last   [lanes]*chainview.Block // of each lane, at the block or before it; nil: none
	taken  int64                   // how many blocks came before it; less than 0: preferred
}

// placeOf returns the place of a block whose parent is in its own. The genesis
// block is of the permissionless lane.
func placeOf(b *chainview.Block, parent *place, of lane) *place {
	p := new(place)
	if parent != nil {
		p.merged, p.last = parent.merged, parent.last
	}
	if of == mergeMined {
		p.merged++
	}
	p.last[of] = b
	return p
}

// requiredBits returns the compact target of a block of a lane on top of parent.
func (e *Engine) requiredBits(parent *chainview.Block, of lane, time int64) uint32 {
	last, merged := e.places[parent].last[of], int32(0)
	if last != nil {
		merged = e.places[last].merged
	}
	return required(e.net, parent, of, time, last, merged)
}

// required is the compact target of a block of a lane on top of parent, where last is
// the lane's last block, nil if there is none, and merged how many merge-mined blocks
// there are up to that one.
func required(net *dialect.Network, parent *chainview.Block, of lane, time int64, last *chainview.Block, merged int32) uint32 {
	rules := net.P2MR
	if rules.Difficulty == dialect.FixedDifficulty {
		return parent.Header.Bits
	}
	if rules.MinDifficulty && time > parent.Header.Timestamp.Unix()+2*spacings[of] {
		return net.Params.PowLimitBits
	}
	anchor := rules.Anchors.Permissionless
	if of == mergeMined {
		anchor = rules.Anchors.AuxPoW
	}
	if last == nil {
		return anchor
	}
	done := merged
	if of == permissionless {
		done = last.Height - merged
	}
	genesis := net.Params.GenesisBlock.Header.Timestamp.Unix()
	return asert(anchor, last.Header.Timestamp.Unix()-genesis, int64(done), spacings[of], net.Params.PowLimit)
}

// NextBits returns a function that tells readers the compact target of a
// permissionless block that is made now on top of a tip. It is safe for concurrent
// use, and remembers the last tip, for it counts the blocks of the other lane.
func NextBits(net *dialect.Network) func(tip *chainview.Block, now time.Time) uint32 {
	var mu sync.Mutex
	var known *chainview.Block
	var counted int32 // merge-mined blocks up to known
	count := func(tip *chainview.Block) (merged int32) {
		for at := tip; at != nil; at = at.Parent {
			if at == known {
				return merged + counted
			}
			if net.P2MR.IsAuxPoW(&at.Header) {
				merged++
			}
		}
		return merged
	}
	return func(tip *chainview.Block, now time.Time) uint32 {
		mu.Lock()
		defer mu.Unlock()
		known, counted = tip, count(tip)
		last, merged := tip, counted
		for net.P2MR.IsAuxPoW(&last.Header) { // the genesis block is not
			last = last.Parent
			merged--
		}
		return required(net, tip, permissionless, max(tip.MedianTimePast()+1, now.Unix()), last, merged)
	}
}

// asert returns the compact target after so many blocks in so many seconds,
// which halves or doubles with each half-life that they are ahead or behind.
func asert(anchor uint32, seconds, blocks, spacing int64, limit *big.Int) uint32 {
	target := asertTarget(anchor, seconds, blocks, spacing, limit)
	return blockchain.BigToCompact(target)
}

func asertTarget(anchor uint32, seconds, blocks, spacing int64, limit *big.Int) *big.Int {
	const one = 1 << 16 // of fixed-point numbers
	exponent := new(big.Int).Mul(big.NewInt(seconds-spacing*blocks), big.NewInt(one))
	exponent.Quo(exponent, big.NewInt(halfLife)) // towards zero
	e := exponent.Int64()
	shift, fraction := e>>16, uint64(e&(one-1))
	// 2^fraction by a cubic polynomial.
	factor := one + (195766423245049*fraction+971821376*fraction*fraction+5127*fraction*fraction*fraction+1<<47)>>48

	target := new(big.Int).Mul(blockchain.CompactToBig(anchor), new(big.Int).SetUint64(factor))
	switch shift -= 16; {
	case shift <= 0:
		target.Rsh(target, uint(min(-shift, 1<<10)))
	case shift > 1<<9:
		return limit
	default:
		target.Lsh(target, uint(shift))
	}
	if target.Sign() == 0 {
		return big.NewInt(1)
	}
	if target.Cmp(limit) > 0 {
		return limit
	}
	return target
}
