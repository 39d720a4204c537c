package chainstate

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
)

// signetBlock returns a block whose coinbase commits to no witnesses.
func signetBlock() *wire.MsgBlock {
	coinbase := wire.NewMsgTx(2)
	coinbase.AddTxIn(&wire.TxIn{SignatureScript: []byte{1, 2, 3}})
	coinbase.AddTxOut(wire.NewTxOut(50, []byte{txscript.OP_TRUE}))
	block := &wire.MsgBlock{
		Header:       wire.BlockHeader{Version: 0x20000000, Timestamp: time.Unix(1598918400, 0)},
		Transactions: []*wire.MsgTx{coinbase},
	}
	commitWitnesses(block)
	return block
}

// sign puts a solution for a challenge of one key into the block.
func sign(t *testing.T, block *wire.MsgBlock, challenge []byte, key *btcec.PrivateKey) {
	t.Helper()
	// The header of a solution is part of the signed bytes, its content is not.
	out := block.Transactions[0].TxOut[1]
	out.PkScript = append(out.PkScript, 4, 0xec, 0xc7, 0xda, 0xa2)
	_, tx, ok := signetTxs(block, challenge)
	if !ok {
		t.Fatal("no virtual transactions")
	}
	sig, err := txscript.RawTxInSignature(tx, 0, challenge, txscript.SigHashAll, key)
	if err != nil {
		t.Fatal(err)
	}
	script, err := txscript.NewScriptBuilder().AddOp(txscript.OP_0).AddData(sig).Script()
	if err != nil {
		t.Fatal(err)
	}
	var solution bytes.Buffer
	solution.Write(signetHeader)
	if err := wire.WriteVarBytes(&solution, 0, script); err != nil {
		t.Fatal(err)
	}
	solution.WriteByte(0) // no witness
	push, err := txscript.NewScriptBuilder().AddData(solution.Bytes()).Script()
	if err != nil {
		t.Fatal(err)
	}
	out.PkScript = append(out.PkScript[:38], push...)
}

func TestSignetSignature(t *testing.T) {
	key, _ := btcec.PrivKeyFromBytes([]byte{1})
	other, _ := btcec.PrivKeyFromBytes([]byte{2})
	challenge, err := txscript.NewScriptBuilder().AddOp(txscript.OP_1).
		AddData(key.PubKey().SerializeCompressed()).AddOp(txscript.OP_1).
		AddOp(txscript.OP_CHECKMULTISIG).Script()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name      string
		challenge []byte
		change    func(*wire.MsgBlock)
		want      bool
	}{
		{"signed", challenge, func(b *wire.MsgBlock) { sign(t, b, challenge, key) }, true},
		{"by another key", challenge, func(b *wire.MsgBlock) { sign(t, b, challenge, other) }, false},
		{"not signed", challenge, func(*wire.MsgBlock) {}, false},
		{"changed afterwards", challenge, func(b *wire.MsgBlock) {
			sign(t, b, challenge, key)
			b.Header.Timestamp = b.Header.Timestamp.Add(time.Second)
		}, false},
		{"nonce changed afterwards", challenge, func(b *wire.MsgBlock) {
			sign(t, b, challenge, key)
			b.Header.Nonce++
		}, true},
		{"no commitment", challenge, func(
			b *wire.MsgBlock,
		) {
			b.Transactions[0].TxOut = b.Transactions[0].TxOut[:1]
		}, false},
		{"anyone may", []byte{txscript.OP_TRUE}, func(*wire.MsgBlock) {}, true},
		{"no transactions", challenge, func(b *wire.MsgBlock) { b.Transactions = nil }, false},
	} {
		block := signetBlock()
		test.change(block)
		if got := Signed(block, test.challenge); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// Reading the solution of any coinbase answers or fails, without a panic.
func FuzzSignetSolution(f *testing.F) {
	f.Add([]byte{4, 0xec, 0xc7, 0xda, 0xa2}, []byte{0, 0})
	f.Add([]byte{0x6a}, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(_ *testing.T, script, solution []byte) {
		_, _, _ = cutSolution(script)
		readSolution(solution, new(wire.TxIn))
	})
}

// commitWitnesses adds an output that commits to witnesses; to which does not
// matter here.
func commitWitnesses(block *wire.MsgBlock) {
	script := append(slices.Clone(consensus.WitnessMagic[:]), make([]byte, 32)...)
	block.Transactions[0].AddTxOut(wire.NewTxOut(0, script))
}
