package mining

import (
	"math/big"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/internal/chainview"
)

// blocksPerRetarget is the number of blocks between changes of the difficulty.
func blocksPerRetarget(params *chaincfg.Params) int32 {
	return int32(params.TargetTimespan / params.TargetTimePerBlock)
}

// nextBits returns the target, in compact form, of a block made now on top of tip.
func (d *Deps) nextBits(tip *chainview.Block) uint32 { return d.bitsAt(tip, d.Now()) }

// bitsAt returns the target, in compact form, of a block made at a time on top of tip.
func (d *Deps) bitsAt(tip *chainview.Block, at time.Time) uint32 {
	if d.NextBits != nil {
		return d.NextBits(tip, at)
	}
	return nextBits(tip, at, d.Network.Params)
}

// nextBits returns the target, in compact form, of a block made now on top of
// tip. It is for showing: the engine computes its own.
//
// Source: GetNextWorkRequired of Bitcoin Core (src/pow.cpp).
func nextBits(tip *chainview.Block, now time.Time, params *chaincfg.Params) uint32 {
	period := blocksPerRetarget(params)
	switch {
	case (tip.Height+1)%period == 0:
		return retarget(tip, params)
	case !params.ReduceMinDifficulty:
		return tip.Header.Bits
	}
	// Testnets: a block that comes late may have the least difficulty; the
	// next one that does not has that of the last real one.
	late := tip.Header.Timestamp.Add(params.MinDiffReductionTime)
	if time.Unix(max(tip.MedianTimePast()+1, now.Unix()), 0).After(late) {
		return params.PowLimitBits
	}
	for tip.Parent != nil && tip.Height%period != 0 && tip.Header.Bits == params.PowLimitBits {
		tip = tip.Parent
	}
	return tip.Header.Bits
}

// retarget returns the target after a whole period that ends with tip.
func retarget(tip *chainview.Block, params *chaincfg.Params) uint32 {
	if params.PoWNoRetargeting {
		return tip.Header.Bits
	}
	first := tip.Ancestor(tip.Height - (blocksPerRetarget(params) - 1))
	factor, wanted := params.RetargetAdjustmentFactor, int64(params.TargetTimespan/time.Second)
	seconds := tip.Header.Timestamp.Unix() - first.Header.Timestamp.Unix()
	seconds = min(max(seconds, wanted/factor), wanted*factor)

	base := tip.Header.Bits
	if params.EnforceBIP94 {
		base = first.Header.Bits // the last block may have the least difficulty
	}
	target := blockchain.CompactToBig(base)
	target.Mul(target, big.NewInt(seconds))
	target.Quo(target, big.NewInt(wanted))
	if target.Cmp(params.PowLimit) > 0 {
		target = params.PowLimit
	}
	return blockchain.BigToCompact(target)
}
