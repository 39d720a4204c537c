package wallets_test

import (
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// sweep is a request to send all coins that are there.
func sweep() messages.Spend {
	return messages.Spend{
		Payments: []messages.Payment{{Script: foreign, Rest: true, Address: "it"}}, FeeRate: new(int64(2000)),
		Version: 2, Unsafe: true, MaxConf: 9_999_999, Sign: messages.SignSome, Send: true, AllowUsed: true,
		All: new(messages.AllCoins),
	}
}

// All coins are sent once; no address for change is taken.
func TestSendAll(t *testing.T) {
	_, ref := rich(t, setup{}, "legacy", "p2sh-segwit", "bech32", "bech32m")
	before := do(t, ref, messages.GetWalletInfo{}).KeypoolSizeInternal
	got := do(t, ref, sweep())
	if !got.Sent || len(got.Tx.TxIn) != 4 || len(got.Tx.TxOut) != 1 ||
		btcutil.Amount(got.Tx.TxOut[0].Value)+got.Fee != 400_000_000 {
		t.Errorf("got %+v", got)
	}
	if after := do(t, ref, messages.GetWalletInfo{}).KeypoolSizeInternal; after != before {
		t.Errorf("%d addresses for change are left of %d", after, before)
	}
	_, err := try(t, ref, sweep())
	refusal(t, err, -6, "Total value of UTXO pool too low to pay for transaction. "+
		"Try using lower feerate or excluding uneconomic UTXOs with 'send_max' option.")
}

// Inputs that are named must be coins of the wallet.
func TestSendAllGiven(t *testing.T) {
	_, ref := rich(t, setup{}, "bech32", "bech32m")
	coins := do(t, ref, messages.ListUnspent{MaxConf: 1, IncludeUnsafe: true})
	q := sweep()
	q.All.Given = true
	q.Inputs = []messages.SpendInput{{At: wire.OutPoint{Hash: coins[0].TxID, Index: coins[0].Index}}}
	if got := do(t, ref, q); len(got.Tx.TxIn) != 1 || got.Tx.TxIn[0].PreviousOutPoint != q.Inputs[0].At {
		t.Errorf("got %+v", got.Tx.TxIn)
	}
	_, err := try(t, ref, q)
	refusal(t, err, -8, "Input not available. UTXO ("+coins[0].TxID.String()+":0) was already spent.")
	q.Inputs[0].At.Index = 7
	_, err = try(t, ref, q)
	refusal(t, err, -8, "Input not found. UTXO ("+coins[0].TxID.String()+":7) is not part of wallet.")
}
