package bip322

import (
	"bytes"
	"encoding/base64"
	"errors"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// ErrUnsigned reports a packet that does not have all signatures.
var ErrUnsigned = errors.New("the message is not signed by all keys")

// Packet returns the PSBT that a signer completes to sign a message for the address with an output script. With coins
// it proves the control of these outputs as well; what they are is for the signer to add.
func Packet(pkScript []byte, message string, coins []wire.OutPoint) *psbt.Packet {
	toSpend := ToSpend(pkScript, message)
	tx := ToSign(toSpend)
	for _, at := range coins {
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: at})
	}
	p := psbt.New(tx, 0)
	p.Inputs[0].Put(psbt.NonWitnessUTXO, nil, psbt.Serialize(toSpend, true))
	if txscript.IsWitnessProgram(pkScript) {
		p.Inputs[0].PutOutput(psbt.WitnessUTXO, toSpend.TxOut[0])
	}
	return p
}

// Signature returns the signature of a completed packet of [Packet], and its form. With coins it is a proof of funds,
// else the witness alone. It is the transaction if full is set, or if the witness is not enough. The packet is changed.
// The error is [ErrUnsigned].
func Signature(p *psbt.Packet, full bool) (text string, form Form, err error) {
	for i := range p.Inputs {
		if !p.Final(i) {
			return "", "", ErrUnsigned
		}
	}
	if len(p.Inputs) > 1 {
		for i := range p.Inputs {
			in := &p.Inputs[i]
			if in.Has(psbt.WitnessUTXO) && in.Has(psbt.FinalWitness) { // the signature commits to the amount
				in.Drop(psbt.NonWitnessUTXO)
			}
		}
		return prefixOf(ProofOfFunds) + p.Encode(), ProofOfFunds, nil
	}
	tx := p.Extract()
	if full || len(tx.TxIn[0].SignatureScript) > 0 {
		return prefixOf(Full) + base64.StdEncoding.EncodeToString(psbt.Serialize(tx, true)), Full, nil
	}
	var raw bytes.Buffer
	_ = wire.WriteVarInt(&raw, 0, uint64(len(tx.TxIn[0].Witness)))
	for _, item := range tx.TxIn[0].Witness {
		_ = wire.WriteVarBytes(&raw, 0, item)
	}
	return prefixOf(Simple) + base64.StdEncoding.EncodeToString(raw.Bytes()), Simple, nil
}

func prefixOf(form Form) string {
	for _, p := range prefixes {
		if p.form == form {
			return p.prefix
		}
	}
	return ""
}
