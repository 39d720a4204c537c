package txpool

import (
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/messages"
)

// reasonImmature is the one violation of which time is the cure.
const reasonImmature = "bad-txns-premature-spend-of-coinbase"

func invalid(reason, debug string) *messages.TxReject {
	return refuse(messages.TxInvalid, reason, debug)
}

// violation says as the pool does which rule of consensus a transaction breaks.
func violation(v *consensus.Violation) *messages.TxReject {
	if v.Reason == reasonImmature {
		return refuse(messages.TxPremature, v.Reason, v.Debug)
	}
	return invalid(v.Reason, v.Debug)
}

// checks are what the rules of a network and the policy of an operator say of
// transactions. They know no pool.
type checks struct {
	rules  Rules
	policy Policy
}

// checkTx applies the rules that need no context.
func (k *checks) checkTx(tx *wire.MsgTx) *messages.TxReject {
	if v := k.rules.CheckTx(tx); v != nil {
		return violation(v)
	}
	if consensus.IsCoinbase(tx) {
		return invalid("coinbase", "")
	}
	return nil
}

// checkSpend applies the rules about what is spent in the block at height, and returns
// the fee.
func (k *checks) checkSpend(tx *wire.MsgTx, coins []messages.Coin, height int32) (int64, *messages.TxReject) {
	list := make([]consensus.Coin, len(coins))
	for i := range coins {
		c := &coins[i]
		list[i] = consensus.Coin{
			Height: c.Height, Coinbase: c.Coinbase, Value: c.Output.Value, Script: c.Output.PkScript,
		}
	}
	fee, v := k.rules.CheckSpend(tx, list, height)
	if v != nil {
		return 0, violation(v)
	}
	return fee, nil
}

// Final reports whether the lock time allows a transaction in the block after the tip.
func Final(tx *wire.MsgTx, tip *chainview.Block) bool {
	return tx.LockTime == 0 || consensus.Final(tx, tip.Height+1, tip.MedianTimePast())
}

// sequenceFinal reports whether the relative lock times (BIP68) allow a transaction in
// the block after the tip. Coins of the pool have the height of that block.
func sequenceFinal(tx *wire.MsgTx, coins []messages.Coin, tip *chainview.Block) bool {
	return consensus.SequenceFinal(tx, func(i int) int32 { return coins[i].Height }, tip)
}
