package wallets_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/messages"
)

// toMultisig returns a packet that spends an output for one of two keys, in a witness, and the output.
func toMultisig(own, other []byte) (*psbt.Packet, *wire.TxOut) {
	script := append([]byte{txscript.OP_1, 33}, own...)
	script = append(append(script, 33), other...)
	script = append(script, txscript.OP_2, txscript.OP_CHECKMULTISIG)
	hash := sha256.Sum256(script)
	out := wire.NewTxOut(100_000, append([]byte{txscript.OP_0, 32}, hash[:]...))
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: 1}, nil, nil))
	tx.AddTxOut(wire.NewTxOut(90_000, foreign))
	p := psbt.New(tx, 0)
	var raw bytes.Buffer
	_ = wire.WriteTxOut(&raw, 0, 0, out) // a buffer does not fail
	p.Inputs[0].Put(psbt.WitnessUTXO, nil, raw.Bytes())
	p.Inputs[0].Put(psbt.WitnessScript, nil, script)
	return p, out
}

// An input of another owner is signed only if the packet names a key of the wallet. The key may
// belong to an address of any kind.
func TestSignForeign(t *testing.T) {
	types := []string{"legacy", "p2sh-segwit", "bech32"}
	_, ref := rich(t, setup{}, types...)
	other := append([]byte{2}, bytes.Repeat([]byte{7}, 32)...)
	for _, kind := range types {
		script := scriptOf(t, do(t, ref, messages.NewAddress{Type: kind, HasType: true}))
		own := do(t, ref, messages.GetAddressInfo{Script: script}).PubKey
		if own == nil { // nested: the key is told of the inner script
			continue
		}
		p, out := toMultisig(own, other)
		if got := do(t, ref, messages.FillPacket{PSBT: p.Encode(), Sign: true, Finalize: true}); got.Complete {
			t.Errorf("%s: signed without a word of the key", kind)
		}
		p.Inputs[0].Put(psbt.Derivation, own, binary.LittleEndian.AppendUint32(nil, 0))
		got := do(t, ref, messages.FillPacket{PSBT: p.Encode(), Sign: true, Finalize: true})
		if !got.Complete {
			t.Errorf("%s: not signed", kind)
			continue
		}
		if err := rawtx.Verify(got.Tx, []*wire.TxOut{out}); err != nil {
			t.Error(kind, err)
		}
	}
}

// An input without a witness is neither signed nor described by what a packet alone says of its value.
func TestUnprovenInput(t *testing.T) {
	_, ref := rich(t, setup{}, "legacy")
	script := scriptOf(t, do(t, ref, messages.NewAddress{Type: "legacy", HasType: true}))
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: 1}, nil, nil))
	tx.AddTxOut(wire.NewTxOut(90_000, foreign))
	p := psbt.New(tx, 0)
	var raw bytes.Buffer
	_ = wire.WriteTxOut(&raw, 0, 0, wire.NewTxOut(100_000, script))
	p.Inputs[0].Put(psbt.WitnessUTXO, nil, raw.Bytes())
	unsigned := p.Encode()
	got := do(t, ref, messages.FillPacket{PSBT: unsigned, Sign: true, Finalize: true, Derivations: true})
	if got.Complete || got.PSBT != unsigned {
		t.Errorf("%+v, want %s", got, unsigned)
	}
}
