package dialect

import (
	"errors"
	"math/big"
	"time"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/p2mr/pow"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/txpool"
)

// setBitcoinRules fills in the rules of Bitcoin's chains that are functions.
func (n *Network) setBitcoinRules() {
	n.Engine = EngineBitcoin
	n.Proves = func(header []byte) bool { return proves(n.Params, header) }
	n.NextBits = func(parent *chainview.Block, time int64) uint32 { return nextBits(n.Params, parent, time) }
	n.MinTime = func(parent *chainview.Block) int64 { return minTime(n.Params, parent) }
	n.NewSigning = n.newSigning
	n.DecodePSBT, n.PSBTVersions = psbt.Decode, []uint32{0, 2}
	n.Standard = txpool.Forms{TRUCSize: 10_000, TRUCChildSize: 1_000}
	n.Verify = func(tx *wire.MsgTx, spent []*wire.TxOut, _ int32) error {
		err := rawtx.Verify(tx, spent)
		if failed, ok := errors.AsType[*rawtx.InputScriptError](err); ok {
			failed.Err = n.ScriptError(failed.Err)
		}
		return err
	}
}

func (n *Network) newSigning(tx *wire.MsgTx, coins map[wire.OutPoint]*wire.TxOut) *rawtx.Signing {
	s := rawtx.NewSigning(tx, coins, n.Rules.MaxMoney, n.P2MR != nil)
	s.OutputKeys = !n.Answers.HidesOutputKeys
	return s
}

// proves reports whether a header's hash is at most the target, and the target is
// in the network's range.
func proves(p *chaincfg.Params, header []byte) bool {
	if len(header) != wire.MaxBlockHeaderPayload {
		return false
	}
	hash := chainhash.DoubleHashH(header)
	return consensus.MeetsTarget(&hash, bitsOf(header), p.PowLimit)
}

// bitsOf returns the compact target of a serialized header.
func bitsOf(header []byte) uint32 {
	const at = 72
	return uint32(header[at]) | uint32(header[at+1])<<8 | uint32(header[at+2])<<16 | uint32(header[at+3])<<24
}

// RetargetPeriod is the number of blocks between changes of Bitcoin's difficulty.
func (n *Network) RetargetPeriod() int32 { return period(n.Params) }

// SinceRetarget is how many blocks up to a height are said to have its difficulty.
func (n *Network) SinceRetarget(height int32) int32 {
	if n.P2MR != nil && n.P2MR.Difficulty == pow.ASERT { // it changes with each block
		return 1
	}
	return height%n.RetargetPeriod() + 1
}

func period(p *chaincfg.Params) int32 { return int32(p.TargetTimespan / p.TargetTimePerBlock) }

// maxTimewarp is how many seconds the first block of a difficulty period may lie
// before the block that it follows (BIP94). Blocks that are made here keep this
// limit on every network, as Core's do.
const maxTimewarp = 600

// TooEarly reports whether a block on parent breaks the rule against time warps
// (BIP94), on the networks that have it.
func (n *Network) TooEarly(parent *chainview.Block, time int64) bool {
	if n.P2MR != nil {
		return n.P2MR.warps(n, parent) && time < parent.Time().Unix()-maxP2MRTimewarp
	}
	return n.Params.EnforceBIP94 && (parent.Height+1)%period(n.Params) == 0 &&
		time < parent.Time().Unix()-maxTimewarp
}

func minTime(p *chaincfg.Params, parent *chainview.Block) int64 {
	earliest := parent.MedianTimePast() + 1
	if (parent.Height+1)%period(p) == 0 {
		earliest = max(earliest, parent.Time().Unix()-maxTimewarp)
	}
	return earliest
}

// nextBits returns the compact target of a block on parent with a time, in seconds
// (Core's GetNextWorkRequired).
func nextBits(p *chaincfg.Params, parent *chainview.Block, at int64) uint32 {
	return periodBits(p, parent, at > parent.Time().Unix()+2*int64(p.TargetTimePerBlock/time.Second))
}

// periodBits is nextBits for a block that comes late, or does not.
func periodBits(p *chaincfg.Params, parent *chainview.Block, late bool) uint32 {
	if (parent.Height+1)%period(p) == 0 {
		return retarget(p, parent)
	}
	if !p.ReduceMinDifficulty {
		return parent.Bits()
	}
	// Testnets: a block that comes late may have the least difficulty. The next
	// block that is not late has the difficulty of the last real block.
	if late {
		return p.PowLimitBits
	}
	last := parent
	for last.Parent != nil && last.Height%period(p) != 0 && last.Bits() == p.PowLimitBits {
		last = last.Parent
	}
	return last.Bits()
}

// maxAdjustment is by what factor the difficulty changes at most.
const maxAdjustment = 4

// retarget returns the compact target of the period that begins after last.
func retarget(p *chaincfg.Params, last *chainview.Block) uint32 {
	if p.PoWNoRetargeting {
		return last.Bits()
	}
	first := last.Ancestor(last.Height - (period(p) - 1))
	wanted := int64(p.TargetTimespan / time.Second)
	took := last.Time().Unix() - first.Time().Unix()
	took = min(max(took, wanted/maxAdjustment), wanted*maxAdjustment)
	bits := last.Bits()
	if p.EnforceBIP94 {
		bits = first.Bits() // which no late block of the period has changed
	}
	next := consensus.TargetOf(bits)
	next.Mul(next, big.NewInt(took))
	next.Quo(next, big.NewInt(wanted))
	if next.Cmp(p.PowLimit) > 0 {
		next = p.PowLimit
	}
	return consensus.TargetBits(next)
}
