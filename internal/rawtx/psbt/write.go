package psbt

import (
	"bytes"
	"slices"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
)

// New returns a packet of a version, 0 or 2, for a transaction, of which nothing more is known. Signatures are
// left out.
func New(tx *wire.MsgTx, version uint32) *Packet {
	plain := tx.Copy()
	for _, in := range plain.TxIn {
		in.SignatureScript, in.Witness = nil, nil
	}
	p := &Packet{
		Version: version, Tx: plain, Inputs: make([]Map, len(plain.TxIn)), Outputs: make([]Map, len(plain.TxOut)),
	}
	if version == 2 {
		p.Global.putNumber(FallbackLockTime, plain.LockTime)
		for i, in := range plain.TxIn {
			p.Inputs[i].putNumber(Sequence, in.Sequence)
		}
	}
	return p
}

// Serialize returns the bytes of a transaction.
func Serialize(tx *wire.MsgTx, witness bool) []byte {
	var raw bytes.Buffer
	if witness {
		_ = tx.Serialize(&raw) // a buffer does not fail
	} else {
		_ = tx.SerializeNoWitness(&raw)
	}
	return raw.Bytes()
}

// Put sets the value of a key: that of a type, with data behind it.
func (m *Map) Put(kind uint64, data, value []byte) {
	e := NewEntry(kind, data, value)
	if i := slices.IndexFunc(*m, func(old Entry) bool { return bytes.Equal(old.Key, e.Key) }); i >= 0 {
		(*m)[i] = e
		return
	}
	*m = append(*m, e)
}

// NewEntry returns an entry: its key is a type with data behind it.
func NewEntry(kind uint64, data, value []byte) Entry {
	return Entry{Key: append(keyOf(kind), data...), Type: kind, Data: data, Value: value}
}

// Adding returns what adds entries to a map whose keys are not there.
func (m *Map) Adding() func(kind uint64, data, value []byte) {
	seen := m.keys()
	return func(kind uint64, data, value []byte) {
		e := NewEntry(kind, data, value)
		if _, twice := seen[string(e.Key)]; !twice {
			seen[string(e.Key)] = struct{}{}
			*m = append(*m, e)
		}
	}
}

// keys returns the keys of a map.
func (m *Map) keys() map[string]struct{} {
	keys := make(map[string]struct{}, len(*m))
	for _, e := range *m {
		keys[string(e.Key)] = struct{}{}
	}
	return keys
}

// PutOutput sets the value of a type to an output.
func (m *Map) PutOutput(kind uint64, out *wire.TxOut) {
	var raw bytes.Buffer
	_ = wire.WriteTxOut(&raw, 0, 0, out) // a buffer does not fail
	m.Put(kind, nil, raw.Bytes())
}

// DropTransactions removes the previous transactions if no signature needs them. For this, each input must
// be known to spend a witness output of version 1 or later and must not be signed with ANYONECANPAY. Then
// signatures commit to all spent outputs.
func (p *Packet) DropTransactions() {
	for _, in := range p.Inputs {
		raw, ok := in.One(WitnessUTXO)
		if !ok {
			return
		}
		script := NewValue(raw).Output().PkScript
		if !txscript.IsWitnessProgram(script) || script[0] == txscript.OP_0 {
			return
		}
		if hashType, ok := in.One(SigHash); ok && hashType[0]&byte(txscript.SigHashAnyOneCanPay) != 0 {
			return
		}
	}
	for i := range p.Inputs {
		p.Inputs[i].Drop(NonWitnessUTXO)
	}
}

// Has reports whether there is an entry of a type.
func (m Map) Has(kind uint64) bool {
	return slices.ContainsFunc(m, func(e Entry) bool { return e.Type == kind })
}

// Drop removes the entries of a type.
func (m *Map) Drop(kind uint64) {
	*m = slices.DeleteFunc(*m, func(e Entry) bool { return e.Type == kind })
}

// Coin returns the output that an input spends, nil where that is not known.
func (p *Packet) Coin(i int) *wire.TxOut {
	if raw, ok := p.Inputs[i].One(NonWitnessUTXO); ok {
		tx, at := NewValue(raw).Tx(true), p.Tx.TxIn[i].PreviousOutPoint
		if int64(at.Index) >= int64(len(tx.TxOut)) || tx.TxHash() != at.Hash {
			return nil
		}
		return tx.TxOut[at.Index]
	}
	raw, ok := p.Inputs[i].One(WitnessUTXO)
	if !ok {
		return nil
	}
	return NewValue(raw).Output()
}

// Proven reports whether a signature may trust the stated output of an input. It may if the transaction
// with the output is there, or if the signature is a witness and so commits to the amount.
func (p *Packet) Proven(i int) bool {
	in, coin := p.Inputs[i], p.Coin(i)
	redeem, _ := in.One(RedeemScript)
	return coin != nil && (in.Has(NonWitnessUTXO) || txscript.IsWitnessProgram(coin.PkScript) ||
		txscript.IsPayToScriptHash(coin.PkScript) && txscript.IsWitnessProgram(redeem))
}

// Final reports whether an input has its final scripts.
func (p *Packet) Final(i int) bool {
	return p.Inputs[i].Has(FinalScriptSig) || p.Inputs[i].Has(FinalWitness)
}

// SetFinal gives an input its final scripts. Of the fields needed to make them it removes signatures,
// derivations and scripts; the other fields are not written any more.
func (p *Packet) SetFinal(i int, scriptSig []byte, witness wire.TxWitness) {
	m := &p.Inputs[i]
	for _, kind := range []uint64{PartialSig, Derivation, RedeemScript, WitnessScript} {
		m.Drop(kind)
	}
	if len(scriptSig) > 0 {
		m.Put(FinalScriptSig, nil, scriptSig)
	}
	if len(witness) > 0 {
		var raw bytes.Buffer
		_ = wire.WriteVarInt(&raw, 0, uint64(len(witness))) // a buffer does not fail
		for _, item := range witness {
			_ = wire.WriteVarBytes(&raw, 0, item)
		}
		m.Put(FinalWitness, nil, raw.Bytes())
	}
}

// Extract returns the transaction with the final scripts of its inputs.
func (p *Packet) Extract() *wire.MsgTx {
	tx := p.Tx.Copy()
	for i, in := range tx.TxIn {
		if raw, ok := p.Inputs[i].One(FinalScriptSig); ok {
			in.SignatureScript = raw
		}
		if raw, ok := p.Inputs[i].One(FinalWitness); ok {
			in.Witness = NewValue(raw).Witness()
		}
	}
	return tx
}
