package bitcoin

import (
	"math/big"
	"time"

	"github.com/btcsuite/btcd/blockchain"

	"github.com/seed61375155/trawl/internal/chainview"
)

// interval is how many blocks have the same difficulty.
func (e *Engine) interval() int32 {
	return int32(e.net.Params.TargetTimespan / e.net.Params.TargetTimePerBlock)
}

// maxAdjustment is by what factor the difficulty changes at most.
const maxAdjustment = 4

// nextBits returns the compact target of a block on parent with a time, in seconds.
func (e *Engine) nextBits(parent *chainview.Block, at int64) uint32 {
	p := e.net.Params
	if (parent.Height+1)%e.interval() == 0 {
		return e.retarget(parent)
	}
	if !p.ReduceMinDifficulty {
		return parent.Header.Bits
	}
	if at > parent.Header.Timestamp.Unix()+2*int64(p.TargetTimePerBlock/time.Second) {
		return p.PowLimitBits
	}
	last := parent // that has not the difficulty of a late block
	for last.Parent != nil && last.Height%e.interval() != 0 && last.Header.Bits == p.PowLimitBits {
		last = last.Parent
	}
	return last.Header.Bits
}

// retarget returns the compact target of the period that begins after last.
func (e *Engine) retarget(last *chainview.Block) uint32 {
	p := e.net.Params
	if p.PoWNoRetargeting {
		return last.Header.Bits
	}
	first := last.Ancestor(last.Height - (e.interval() - 1))
	wanted := int64(p.TargetTimespan / time.Second)
	took := last.Header.Timestamp.Unix() - first.Header.Timestamp.Unix()
	took = min(max(took, wanted/maxAdjustment), wanted*maxAdjustment)
	bits := last.Header.Bits
	if p.EnforceBIP94 {
		bits = first.Header.Bits // which no late block of the period has changed
	}
	target := blockchain.CompactToBig(bits)
	target.Mul(target, big.NewInt(took))
	target.Div(target, big.NewInt(wanted))
	if target.Cmp(p.PowLimit) > 0 {
		target.Set(p.PowLimit)
	}
	return blockchain.BigToCompact(target)
}
