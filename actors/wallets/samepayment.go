package wallets

import (
	"slices"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// samePayment reports whether a transaction that a device answers may stand for the transaction that it was asked
// to sign. Both must spend the same coins and have the same outputs to others. The wallet may get back less
// change, but at most by fee, the fee of the asked transaction.
func samePayment(asked, got *wire.MsgTx, fee int64, mine func(script []byte) bool) bool {
	if asked.TxHash() == got.TxHash() {
		return true
	}
	own, most := int64(0), fee
	others := make(map[wireOut]int)
	for _, out := range asked.TxOut {
		most += out.Value
		if mine(out.PkScript) {
			own += out.Value
			continue
		}
		others[wireOut{string(out.PkScript), out.Value}]++
	}
	for _, out := range got.TxOut {
		if out.Value < 0 || out.Value > most {
			return false // and the sum below is no larger than there can be
		}
		most -= out.Value
		if mine(out.PkScript) {
			own -= out.Value
			continue
		}
		others[wireOut{string(out.PkScript), out.Value}]--
	}
	for _, n := range others {
		if n != 0 {
			return false
		}
	}
	return own <= fee && slices.Equal(coinsOf(asked), coinsOf(got))
}

// wireOut is an output as a key of maps.
type wireOut struct {
	script string
	value  int64
}

// coinsOf returns what a transaction spends, in an order of its own.
func coinsOf(tx *wire.MsgTx) []string {
	coins := make([]string, len(tx.TxIn))
	for i, in := range tx.TxIn {
		coins[i] = in.PreviousOutPoint.String()
	}
	slices.Sort(coins)
	return coins
}

// feeOf returns the fee that a packet pays, 0 where it does not say what it spends.
func feeOf(p *psbt.Packet) int64 {
	fee := int64(0)
	for i := range p.Inputs {
		coin := p.Coin(i)
		if coin == nil {
			return 0
		}
		fee += coin.Value
	}
	for _, out := range p.Tx.TxOut {
		fee -= out.Value
	}
	return max(0, fee)
}
