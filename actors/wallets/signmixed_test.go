package wallets_test

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
)

// A transaction that spends P2MR outputs and others is signed as a whole, whichever comes first.
func TestSignMixedInputs(t *testing.T) {
	network, err := dialect.Named("qbit", "regtest", dialect.Choices{AnyOutput: true})
	if err != nil {
		t.Fatal(err)
	}
	chain := chaintest.New(network.Params)
	chain.MineN(3)
	r := newRig(t, chain, setup{network: network, noFilters: true, now: genesis, keyPool: 2})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	amount := btcutil.Amount(network.Rules.MaxMoney / 10)
	request := func(types []string) messages.SignWithWallet {
		tx := wire.NewMsgTx(2)
		var prevs []messages.PrevOut
		for i, kind := range types {
			script, err := descriptor.ScriptOfAddress(
				do(t, ref, messages.NewAddress{Type: kind, HasType: true}), network.Descriptors())
			if err != nil {
				t.Fatal(err)
			}
			tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: uint32(i)}})
			prevs = append(prevs, messages.PrevOut{Index: uint32(i), Script: script, Amount: &amount})
		}
		tx.AddTxOut(wire.NewTxOut(1000, []byte{txscript.OP_TRUE}))
		var raw bytes.Buffer
		if err := tx.Serialize(&raw); err != nil {
			t.Fatal(err)
		}
		return messages.SignWithWallet{RawTx: raw.Bytes(), Prevs: prevs}
	}
	others := []string{"legacy", "p2sh-segwit", "bech32", "bech32m"}
	for _, types := range [][]string{
		{"p2mr", "legacy"},
		{"p2sh-segwit", "p2mr"},
		{"p2mr", "bech32"},
		{"bech32m", "p2mr"},
		append([]string{"p2mr"}, others...), append(others, "p2mr", "p2mr"),
	} {
		q := request(types)
		if got := do(t, ref, q); !got.Complete || len(got.Errors) > 0 || len(got.PQCKeys) == 0 {
			t.Errorf("%v: complete: %v, keys %+v, %+v", types, got.Complete, got.PQCKeys, got.Errors)
		}
	}
}
