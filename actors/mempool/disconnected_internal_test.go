package mempool

import (
	"testing"

	"github.com/btcsuite/btcd/wire"
)

// Of 200 transactions of 100,000 bytes two are dropped: memory takes more than what travels.
func TestDisconnectedAreBounded(t *testing.T) {
	block := new(wire.MsgBlock)
	for n := range uint32(200) {
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{
			PreviousOutPoint: wire.OutPoint{Index: n}, Witness: wire.TxWitness{make([]byte, 1), make([]byte, 33)},
		})
		tx.AddTxOut(wire.NewTxOut(1, make([]byte, 34)))
		tx.AddTxOut(wire.NewTxOut(0, nil))
		const sizeOfLength = 4
		tx.TxOut[1].PkScript = make([]byte, 100_000-sizeOfLength-tx.SerializeSize())
		if size := tx.SerializeSize(); size != 100_000 {
			t.Fatalf("%d bytes", size)
		}
		block.Transactions = append(block.Transactions, tx)
	}
	var d disconnected
	d.add(block)
	if len(d.txs) != 198 || d.txs[0] != block.Transactions[197] {
		t.Errorf("%d are kept", len(d.txs))
	}
}
