package mempoolrpc

import (
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/dialect"
)

// Bytes of witnesses count as much as others on qbit's chains.
func TestWeightOf(t *testing.T) {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{Witness: wire.TxWitness{make([]byte, 99)}})
	tx.AddTxOut(&wire.TxOut{})
	const outside, all = 60, 60 + 2 + 1 + 1 + 99
	for name, want := range map[string][2]int64{
		"bitcoin": {3*outside + all, (3*outside + all + 3) / 4}, "qbit": {all, all},
	} {
		n, err := dialect.Named(name, "regtest", dialect.Choices{})
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]int64{weightOf(tx, n), virtualSize(tx, n)}; got != want {
			t.Errorf("%s: weight and size %v, want %v", name, got, want)
		}
	}
}
