package p2mr

import (
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/store/blockfile"
)

// connect checks a block against the unspent outputs below it and applies it to
// them. It returns the coins that it spends, in order. After an error the view is
// of no use.
func (e *Engine) connect(v *view, at *chainview.Block, b *block) (spent []blockfile.Coin, err error) {
	if e.weight(b) > e.net.Rules.MaxWeight {
		return nil, reject("bad-blk-weight", "ContextualCheckBlock : weight limit failed")
	}
	if err := e.checkRepeated(v, at, b); err != nil {
		return nil, err
	}
	var checks []scriptCheck
	fees, sigOps := int64(0), int64(0)
	for i, tx := range b.txs {
		msg, coinbase := tx.MsgTx(), i == 0
		if err := e.checkOutputs(msg, at.Height); err != nil {
			return nil, err
		}
		var coins []blockfile.Coin
		if !coinbase {
			var fee int64
			if coins, fee, err = e.checkInputs(v, tx, at); err != nil {
				return nil, err
			}
			if fees += fee; fees > e.net.Rules.MaxMoney {
				return nil, reject("bad-txns-accumulated-fee-outofrange", "accumulated fee in the block out of range")
			}
		}
		if sigOps += e.sigOpCost(tx, coins, at.Height); sigOps > e.net.Rules.MaxSigOps {
			return nil, reject("bad-blk-sigops", "too many sigops")
		}
		if !coinbase {
			checks = append(checks, scriptCheck{tx: msg, spent: coins})
		}
		for _, in := range msg.TxIn {
			if !coinbase {
				v.spend(&in.PreviousOutPoint)
			}
		}
		spent = append(spent, coins...)
		v.create(msg, wire.OutPoint{Hash: *tx.Hash()}, at.Height, coinbase)
	}
	if err := e.checkReward(b, at.Height, fees); err != nil {
		return nil, err
	}
	return spent, e.checkScripts(checks, at.Height)
}

// checkRepeated is BIP30: no transaction may have the hash of one with unspent
// outputs.
func (e *Engine) checkRepeated(v *view, at *chainview.Block, b *block) error {
	if at.Height < e.rules.BIP30 {
		return nil
	}
	for _, tx := range b.txs {
		for i := range tx.MsgTx().TxOut {
			coin, err := v.get(&wire.OutPoint{Hash: *tx.Hash(), Index: uint32(i)})
			if err != nil {
				return err
			}
			if coin != nil {
				return reject("bad-txns-BIP30", "tried to overwrite transaction")
			}
		}
	}
	return nil
}

func (e *Engine) checkOutputs(tx *wire.MsgTx, height int32) error {
	may := e.net.Rules.MayPayTo
	if may == nil {
		return nil
	}
	for _, out := range tx.TxOut {
		if !may(out.PkScript, height) {
			return reject("bad-txns-output-not-p2mr", "")
		}
	}
	return nil
}

// checkInputs returns the coins that a transaction spends, and its fee.
func (e *Engine) checkInputs(v *view, tx *btcutil.Tx, at *chainview.Block) ([]blockfile.Coin, int64, error) {
	msg := tx.MsgTx()
	coins := make([]blockfile.Coin, len(msg.TxIn))
	for i, in := range msg.TxIn {
		coin, err := v.get(&in.PreviousOutPoint)
		if err != nil {
			return nil, 0, err
		}
		if coin == nil {
			return nil, 0, reject("bad-txns-inputs-missingorspent", "")
		}
		coins[i] = *coin
	}
	fee, violation := e.net.Rules.CheckSpend(msg, spentCoins(coins), at.Height)
	if violation != nil {
		return nil, 0, reject(violation.Reason, violation.Debug)
	}
	heights := func(input int) int32 { return coins[input].Height }
	if e.net.Active("csv", at.Height) && !consensus.SequenceFinal(msg, heights, at.Parent) {
		return nil, 0, reject("bad-txns-nonfinal", "contains a non-BIP68-final transaction")
	}
	return coins, fee, nil
}

func spentCoins(coins []blockfile.Coin) []consensus.Coin {
	spent := make([]consensus.Coin, len(coins))
	for i, c := range coins {
		spent[i] = consensus.Coin{Height: c.Height, Coinbase: c.Coinbase, Value: c.Amount, Script: c.Script}
	}
	return spent
}

// sigOpCost counts the signature checks of a transaction. Those of P2MR scripts are
// bounded by their own budget.
func (e *Engine) sigOpCost(tx *btcutil.Tx, coins []blockfile.Coin, height int32) int64 {
	flags := script.P2SH
	if e.net.Active("segwit", height) {
		flags |= script.Witness
	}
	spent := make([]*wire.TxOut, len(coins))
	for i, coin := range coins {
		spent[i] = wire.NewTxOut(coin.Amount, coin.Script)
	}
	outside, inside := script.CountSigOps(tx.MsgTx(), spent, flags)
	return int64(outside)*e.net.Rules.WitnessScale + int64(inside)
}

func (e *Engine) checkReward(b *block, height int32, fees int64) error {
	reward := int64(0)
	for _, out := range b.txs[0].MsgTx().TxOut {
		reward += out.Value
	}
	if reward > fees+int64(e.net.Subsidy(height)) {
		return reject("bad-cb-amount", "coinbase pays too much")
	}
	return nil
}

// disconnect takes a block back from the unspent outputs.
func disconnect(v *view, b *block, undo [][]blockfile.Coin) {
	for i, tx := range slices.Backward(b.txs) {
		of := wire.OutPoint{Hash: *tx.Hash()}
		for n := range tx.MsgTx().TxOut {
			of.Index = uint32(n)
			v.spend(&of)
		}
		if i == 0 {
			continue
		}
		for n, in := range tx.MsgTx().TxIn {
			v.restore(&in.PreviousOutPoint, undo[i-1][n])
		}
	}
}
