package txpool

import (
	"fmt"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

func invalid(reason, debug string) *messages.TxReject {
	return refuse(messages.TxInvalid, reason, debug)
}

var nothing = wire.OutPoint{Index: wire.MaxPrevOutIndex}

func isCoinbase(tx *wire.MsgTx) bool {
	return len(tx.TxIn) == 1 && tx.TxIn[0].PreviousOutPoint == nothing
}

// checkSanity applies the rules that need no context.
func (p *Pool) checkSanity(tx *wire.MsgTx) *messages.TxReject {
	switch {
	case len(tx.TxIn) == 0:
		return invalid("bad-txns-vin-empty", "")
	case len(tx.TxOut) == 0:
		return invalid("bad-txns-vout-empty", "")
	case int64(tx.SerializeSizeStripped())*p.rules.WitnessScale > p.rules.MaxWeight:
		return invalid("bad-txns-oversize", "")
	}
	total := int64(0)
	for _, out := range tx.TxOut {
		switch {
		case out.Value < 0:
			return invalid("bad-txns-vout-negative", "")
		case out.Value > p.rules.MaxMoney:
			return invalid("bad-txns-vout-toolarge", "")
		}
		if total += out.Value; total > p.rules.MaxMoney {
			return invalid("bad-txns-txouttotal-toolarge", "")
		}
	}
	seen := make(map[wire.OutPoint]struct{}, len(tx.TxIn))
	for _, in := range tx.TxIn {
		if _, twice := seen[in.PreviousOutPoint]; twice {
			return invalid("bad-txns-inputs-duplicate", "")
		}
		seen[in.PreviousOutPoint] = struct{}{}
	}
	if isCoinbase(tx) {
		if n := len(tx.TxIn[0].SignatureScript); n < 2 || n > 100 {
			return invalid("bad-cb-length", "")
		}
		return invalid("coinbase", "")
	}
	if _, null := seen[nothing]; null {
		return invalid("bad-txns-prevout-null", "")
	}
	return nil
}

// lockTimeThreshold divides lock times that are heights from those that are
// times.
const lockTimeThreshold = 500_000_000

// final reports whether the lock time allows a transaction in the block after
// the tip.
func final(tx *wire.MsgTx, tip *chainview.Block) bool {
	limit := int64(tip.Height) + 1
	if tx.LockTime >= lockTimeThreshold {
		limit = tip.MedianTimePast()
	}
	if tx.LockTime == 0 || int64(tx.LockTime) < limit {
		return true
	}
	for _, in := range tx.TxIn {
		if in.Sequence != wire.MaxTxInSequenceNum {
			return false
		}
	}
	return true
}

// sequenceFinal reports whether the relative lock times (BIP68) allow a
// transaction in the block after the tip. Coins of the pool have the height of
// that block.
func sequenceFinal(tx *wire.MsgTx, coins []messages.Coin, tip *chainview.Block) bool {
	if uint32(tx.Version) < 2 {
		return true
	}
	for i, in := range tx.TxIn {
		if in.Sequence&wire.SequenceLockTimeDisabled != 0 {
			continue
		}
		height, lock := coins[i].Height, int64(in.Sequence&wire.SequenceLockTimeMask)
		if in.Sequence&wire.SequenceLockTimeIsSeconds == 0 {
			if int64(height)+lock-1 >= int64(tip.Height)+1 {
				return false
			}
			continue
		}
		start := tip.Ancestor(max(height-1, 0)).MedianTimePast()
		if start+lock<<wire.SequenceLockTimeGranularity-1 >= tip.MedianTimePast() {
			return false
		}
	}
	return true
}

// checkMoney applies the rules about what is spent, and returns the fee.
func (p *Pool) checkMoney(tx *wire.MsgTx, coins []messages.Coin, height int32) (fee int64, r *messages.TxReject) {
	in := int64(0)
	for i := range coins {
		c := &coins[i]
		if depth := height - c.Height; c.Coinbase && depth < p.rules.Maturity {
			return 0, refuse(messages.TxPremature, "bad-txns-premature-spend-of-coinbase",
				fmt.Sprintf("tried to spend coinbase at depth %d", depth))
		}
		in += c.Output.Value
		if c.Output.Value < 0 || c.Output.Value > p.rules.MaxMoney || in > p.rules.MaxMoney {
			return 0, invalid("bad-txns-inputvalues-outofrange", "")
		}
	}
	out := int64(0)
	for _, o := range tx.TxOut {
		out += o.Value
	}
	if in < out {
		return 0, invalid("bad-txns-in-belowout", fmt.Sprintf("value in (%s) < value out (%s)", money(in), money(out)))
	}
	return in - out, nil
}
