package bitcoin_test

import (
	"bytes"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/enginetest"
)

// Witness outputs can be spent in blocks that are older than BIP16's activation on
// the main chain, as chains of tests are that begin at the time of genesis.
func TestWitnessInOldBlocks(t *testing.T) {
	e, err := enginetest.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.SetMockTime(e.Reader().Active().Tip().Header.Timestamp.Add(time.Hour))
	witness := []byte{0x51} // OP_TRUE
	program := sha256.Sum256(witness)
	script := append([]byte{0x00, 32}, program[:]...)
	mine(t, e, script, 101)
	raw, err := e.Reader().Raw(&e.Reader().Active().At(1).Hash)
	if err != nil {
		t.Fatal(err)
	}
	var block wire.MsgBlock
	if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	tx := wire.NewMsgTx(2)
	out := wire.OutPoint{Hash: block.Transactions[0].TxHash()}
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: out, Witness: wire.TxWitness{witness}})
	tx.AddTxOut(wire.NewTxOut(1000, script))
	var serialized bytes.Buffer
	if err := tx.Serialize(&serialized); err != nil {
		t.Fatal(err)
	}
	tries := uint64(1 << 20)
	raw, err = e.Mine(t.Context(), script, [][]byte{serialized.Bytes()}, 0, &tries)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Accept(raw); err != nil {
		t.Error(err)
	}
	if got := e.Reader().Active().Tip(); got.Height != 102 || got.Header.Timestamp.Year() > 2011 {
		t.Errorf("at height %d, %v", got.Height, got.Header.Timestamp)
	}
}
