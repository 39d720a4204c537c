package bip322_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/bip322"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// proof returns a proof of funds for other outputs of an open script, which edit has changed.
func proof(message string, edit func(p *psbt.Packet, other *wire.MsgTx)) (pkScript []byte, signature string) {
	witness := wire.TxWitness{{txscript.OP_TRUE}}
	pkScript = witnessScript(txscript.OP_TRUE)
	other := wire.NewMsgTx(2)
	other.AddTxIn(&wire.TxIn{Witness: wire.TxWitness{{1}}})
	other.AddTxOut(wire.NewTxOut(5, pkScript))
	other.AddTxOut(wire.NewTxOut(7, []byte{txscript.OP_DROP, txscript.OP_TRUE}))
	tx := bip322.ToSign(bip322.ToSpend(pkScript, message))
	for i := range other.TxOut {
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: other.TxHash(), Index: uint32(i)}})
	}
	p := psbt.New(tx, 0)
	for i := range 2 {
		p.SetFinal(i, nil, witness)
	}
	p.SetFinal(2, []byte{txscript.OP_0}, nil)
	p.Inputs[1].Put(psbt.NonWitnessUTXO, nil, psbt.Serialize(other, true))
	edit(p, other)
	return pkScript, "pof" + p.Encode()
}

func TestProofsOfFunds(t *testing.T) {
	const message = "funds"
	const unknown = "an input's output is not in the PSBT, or without its transaction"
	dropTx := func(p *psbt.Packet) { p.Inputs[1].Drop(psbt.NonWitnessUTXO) }
	output := func(p *psbt.Packet, i int, out *wire.TxOut) {
		var buf bytes.Buffer
		_ = wire.WriteTxOut(&buf, 0, 0, out)
		p.Inputs[i].Put(psbt.WitnessUTXO, nil, buf.Bytes())
	}
	for name, c := range map[string]struct {
		edit   func(p *psbt.Packet, other *wire.MsgTx)
		reason string
	}{
		"of one transaction": {func(*psbt.Packet, *wire.MsgTx) {}, ""},
		"not finalized": {
			func(p *psbt.Packet, _ *wire.MsgTx) { p.Inputs[0].Drop(psbt.FinalWitness) },
			"signature is a PSBT that is not finalized",
		},
		"without outputs": {func(p *psbt.Packet, _ *wire.MsgTx) { dropTx(p) }, unknown},
		"the transaction comes later": {func(p *psbt.Packet, other *wire.MsgTx) {
			dropTx(p)
			p.Inputs[2].Put(psbt.NonWitnessUTXO, nil, psbt.Serialize(other, true))
		}, unknown},
		"the output alone, without a witness": {func(p *psbt.Packet, other *wire.MsgTx) {
			dropTx(p)
			output(p, 1, other.TxOut[0])
			output(p, 2, other.TxOut[1])
		}, unknown},
	} {
		pkScript, signature := proof(message, c.edit)
		r := verify(pkScript, message, signature)
		if (r.State == bip322.Valid) != (c.reason == "") || r.Reason != c.reason {
			t.Errorf("%s: %+v", name, r)
		}
		if c.reason == "" && (len(r.Funds) != 2 || r.Funds[0].Output.Value != 5 || r.Funds[1].Output.Value != 7) {
			t.Errorf("%s: funds %v", name, r.Funds)
		}
	}
}

// No proof is of more than there can be.
func TestFundsBeyondAllMoney(t *testing.T) {
	pkScript := witnessScript(txscript.OP_TRUE)
	tx := bip322.ToSign(bip322.ToSpend(pkScript, ""))
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash{1}}})
	p := psbt.New(tx, 0)
	for i := range 2 {
		p.SetFinal(i, nil, wire.TxWitness{{txscript.OP_TRUE}})
	}
	for value, want := range map[int64]string{
		network.Rules.MaxMoney: "", network.Rules.MaxMoney + 1: "bad-txns-vout-toolarge",
	} {
		var buf bytes.Buffer
		_ = wire.WriteTxOut(&buf, 0, 0, wire.NewTxOut(value, pkScript))
		p.Inputs[1].Drop(psbt.WitnessUTXO)
		p.Inputs[1].Put(psbt.WitnessUTXO, nil, buf.Bytes())
		if r := verify(pkScript, "", "pof"+p.Encode()); r.Reason != want {
			t.Errorf("%d: %+v, want %q", value, r, want)
		}
	}
}

// endingContext ends after it was asked so often.
type endingContext struct {
	context.Context
	left int
}

func (c *endingContext) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// The end of the context ends the verification between two inputs.
func TestVerificationEnds(t *testing.T) {
	pkScript, signature := proof("m", func(*psbt.Packet, *wire.MsgTx) {})
	for left := range 5 {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("enough")
		cancel(why)
		r, err := bip322.Verify(&endingContext{ctx, left}, &network.Rules, pkScript, "m", signature)
		if ended := left < 3; ended != errors.Is(err, why) || ended != (r.State == "") {
			t.Errorf("after %d inputs: %+v, %v", left, r, err)
		}
	}
}
