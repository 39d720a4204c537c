package consensus

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// committing returns the transactions of a block whose coinbase has outputs with
// scripts and a witness.
func committing(tb testing.TB, witness wire.TxWitness, others []*wire.MsgTx, scripts ...[]byte) *Txs {
	tb.Helper()
	coinbase := wire.NewMsgTx(2)
	coinbase.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: math.MaxUint32}, Witness: witness})
	for _, s := range scripts {
		coinbase.AddTxOut(wire.NewTxOut(0, s))
	}
	txs, _, err := ReadTxs(serialized(tb, append([]*wire.MsgTx{coinbase}, others...)...), 0)
	if err != nil {
		tb.Fatal(err)
	}
	return txs
}

// Both sides of each rule about the commitment of a block to its witnesses.
func TestCheckWitnesses(t *testing.T) {
	segwit := with(paying(1), func(tx *wire.MsgTx) { tx.TxIn[0].Witness = wire.TxWitness{{1}} })
	others := []*wire.MsgTx{segwit, paying(2), paying(3)}
	nonce := bytes.Repeat([]byte{3}, 32)
	// The commitment over ids that btcd computes, the coinbase's being zero.
	ids := []chainhash.Hash{{}, others[0].WitnessHash(), others[1].WitnessHash(), others[2].WitnessHash()}
	node := func(a, b chainhash.Hash) chainhash.Hash { return chainhash.DoubleHashH(append(a[:], b[:]...)) }
	root := node(node(ids[0], ids[1]), node(ids[2], ids[3]))
	right := slices.Concat(WitnessMagic[:], chainhash.DoubleHashB(append(root[:], nonce...)))
	wrong := func(at int) []byte {
		b := bytes.Clone(right)
		b[at] ^= 1
		return b
	}
	const noNonce, noRoot, unexpected = "bad-witness-nonce-size", "bad-witness-merkle-match", "unexpected-witness"
	for _, test := range []struct {
		name     string
		witness  wire.TxWitness
		scripts  [][]byte
		inactive bool
		want     string
		alone    string // without the others
	}{
		{"right", wire.TxWitness{nonce}, [][]byte{{0x51}, right}, false, "", noRoot},
		{"something behind", wire.TxWitness{nonce}, [][]byte{append(bytes.Clone(right), 1)}, false, "", noRoot},
		{"the last counts", wire.TxWitness{nonce}, [][]byte{wrong(20), right, {0x51}}, false, "", noRoot},
		{"and the last is wrong", wire.TxWitness{nonce}, [][]byte{right, wrong(6)}, false, noRoot, noRoot},
		{"wrong at the end", wire.TxWitness{nonce}, [][]byte{wrong(37)}, false, noRoot, noRoot},
		{"no nonce", nil, [][]byte{right}, false, noNonce, noNonce},
		{"two nonces", wire.TxWitness{nonce, nonce}, [][]byte{right}, false, noNonce, noNonce},
		{"a short nonce", wire.TxWitness{nonce[:31]}, [][]byte{right}, false, noNonce, noNonce},
		{"another nonce", wire.TxWitness{make([]byte, 32)}, [][]byte{right}, false, noRoot, noRoot},
		{"no commitment", nil, [][]byte{{0x51}}, false, unexpected, ""},
		{"a short one", nil, [][]byte{right[:37]}, false, unexpected, ""},
		{"another magic", nil, [][]byte{wrong(5)}, false, unexpected, ""},
		{"not active", wire.TxWitness{nonce}, [][]byte{right}, true, unexpected, unexpected},
		{"not active, no witness", nil, [][]byte{right}, true, unexpected, ""},
	} {
		for alone, want := range map[bool]string{false: test.want, true: test.alone} {
			txs := committing(t, test.witness, others, test.scripts...)
			if alone {
				txs = committing(t, test.witness, nil, test.scripts...)
			}
			v := txs.CheckWitnesses(!test.inactive)
			if word(v) != want {
				t.Errorf("%s, alone: %t: %q, want %q", test.name, alone, word(v), want)
			}
			// A block of other witnesses may have that header.
			if v != nil && !MayBeMalleated(v.Reason) {
				t.Errorf("%s: %s makes the header invalid", test.name, v.Reason)
			}
		}
	}
	if MayBeMalleated("bad-blk-weight") || MayBeMalleated("bad-cb-height") || MayBeMalleated("") {
		t.Error("what the header covers may be malleated")
	}
	before := slices.Clone(ids)
	ids[0] = chainhash.Hash{9}
	if got := Commitment(ids, nonce); !bytes.Equal(got[:], right[6:]) || ids[0] != (chainhash.Hash{9}) ||
		!slices.Equal(ids[1:], before[1:]) {
		t.Errorf("commitment %x, or the ids were changed", got)
	}
}

// CheckOutputs asks MayPayTo for the script of each output, with the block's
// height.
func TestCheckOutputs(t *testing.T) {
	tx := paying(1, 2, 3)
	for i, o := range tx.TxOut {
		o.PkScript = []byte{byte(i)}
	}
	if v := rules.CheckOutputs(tx, 5); v != nil {
		t.Errorf("any may: %v", v)
	}
	for bad := range byte(4) {
		limited := rules
		limited.MayPayTo = func(script []byte, height int32) bool { return height != 5 || script[0] != bad }
		want := ""
		if bad < 3 {
			want = "bad-txns-output-not-p2mr"
		}
		if got := word(limited.CheckOutputs(tx, 5)); got != want {
			t.Errorf("output %d: %q, want %q", bad, got, want)
		}
		if v := limited.CheckOutputs(tx, 6); v != nil {
			t.Errorf("another height: %v", v)
		}
	}
}
