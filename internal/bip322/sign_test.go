package bip322_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/bip322"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// A packet that is completed with the witness of a published signature is that signature.
func TestPublishedSignaturesFromPackets(t *testing.T) {
	for _, one := range read(t, "generated.json").Simple {
		p := bip322.Packet(scriptOf(t, one.Address), one.Message, nil)
		if _, _, err := bip322.Signature(p, false); !errors.Is(err, bip322.ErrUnsigned) {
			t.Errorf("without a signature: %v", err)
		}
		p.SetFinal(0, nil, witnessOf(t, one.Signatures[0]))
		text, form, err := bip322.Signature(p, false)
		if err != nil || form != bip322.Simple || text != one.Signatures[0] {
			t.Errorf("%s: %s, %v, %v, want %s", one.Type, text, form, err, one.Signatures[0])
		}
		text, form, err = bip322.Signature(p, true)
		r := verify(scriptOf(t, one.Address), one.Message, text)
		if err != nil || form != bip322.Full || r.State != bip322.Valid || r.Form != bip322.Full {
			t.Errorf("%s in full: %s, %v, %+v", one.Type, text, err, r)
		}
	}
}

// witnessOf returns the items of a simple signature.
func witnessOf(t *testing.T, signature string) (witness wire.TxWitness) {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(signature, "smp"))
	if err != nil {
		t.Fatal(err)
	}
	r := bytes.NewReader(raw)
	n, err := wire.ReadVarInt(r, 0)
	for range n {
		var item []byte
		if err == nil {
			item, err = wire.ReadVarBytes(r, 0, uint32(len(raw)), "item")
		}
		witness = append(witness, item)
	}
	if err != nil {
		t.Fatal(err)
	}
	return witness
}

// A proof of funds has what verifies it, and no transaction where the output is enough.
func TestProofFromPacket(t *testing.T) {
	const message = "proof"
	pkScript := witnessScript(txscript.OP_TRUE)
	open := wire.TxWitness{{txscript.OP_TRUE}}
	paid := wire.NewMsgTx(2)
	paid.AddTxIn(&wire.TxIn{})
	paid.AddTxOut(wire.NewTxOut(5, pkScript))
	paid.AddTxOut(wire.NewTxOut(7, []byte{txscript.OP_DROP, txscript.OP_TRUE}))
	coins := []wire.OutPoint{{Hash: paid.TxHash()}, {Hash: paid.TxHash(), Index: 1}}
	p := bip322.Packet(pkScript, message, coins)
	for i := range 2 {
		p.Inputs[i+1].Put(psbt.NonWitnessUTXO, nil, psbt.Serialize(paid, true))
	}
	p.Inputs[1].PutOutput(psbt.WitnessUTXO, paid.TxOut[0])
	p.SetFinal(0, nil, open)
	p.SetFinal(1, nil, open)
	if _, _, err := bip322.Signature(p, false); !errors.Is(err, bip322.ErrUnsigned) {
		t.Errorf("without a script: %v", err)
	}
	p.SetFinal(2, []byte{txscript.OP_1}, nil)
	text, form, err := bip322.Signature(p, false)
	r := verify(pkScript, message, text)
	if err != nil || form != bip322.ProofOfFunds || r.State != bip322.Valid || len(r.Funds) != 2 {
		t.Fatalf("%v, %+v", err, r)
	}
	for i, fund := range r.Funds {
		if fund.Out != coins[i] || fund.Output.Value != paid.TxOut[i].Value {
			t.Errorf("fund %d: %+v", i, fund)
		}
	}
	if p.Inputs[0].Has(psbt.NonWitnessUTXO) || p.Inputs[1].Has(psbt.NonWitnessUTXO) {
		t.Error("a transaction is there that nobody needs")
	}
	if !p.Inputs[2].Has(psbt.NonWitnessUTXO) {
		t.Error("the output of a script without a witness is not proven")
	}
}
