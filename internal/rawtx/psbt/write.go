package psbt

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
)

// New returns a packet for a transaction, of which nothing more is known. Signatures are
// left out.
func New(tx *wire.MsgTx) *Packet {
	plain := tx.Copy()
	for _, in := range plain.TxIn {
		in.SignatureScript, in.Witness = nil, nil
	}
	p := &Packet{Tx: plain, Inputs: make([]Map, len(plain.TxIn)), Outputs: make([]Map, len(plain.TxOut))}
	p.Global.Put(UnsignedTx, nil, Serialize(plain, false))
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
	var key bytes.Buffer
	_ = wire.WriteVarInt(&key, 0, kind) // a buffer does not fail
	key.Write(data)
	e := Entry{Key: key.Bytes(), Type: kind, Data: data, Value: value}
	if i := slices.IndexFunc(*m, func(old Entry) bool { return bytes.Equal(old.Key, e.Key) }); i >= 0 {
		(*m)[i] = e
		return
	}
	*m = append(*m, e)
}

// Has reports whether there is an entry of a type.
func (m Map) Has(kind uint64) bool {
	return slices.ContainsFunc(m, func(e Entry) bool { return e.Type == kind })
}

// Keep removes all entries but those of some types, of proprietary ones and of types that
// are not known here.
func (m *Map) Keep(kinds ...uint64) {
	*m = slices.DeleteFunc(*m, func(e Entry) bool {
		return e.Type <= MusigPartialSig && !slices.Contains(kinds, e.Type)
	})
}

// Drop removes the entries of a type.
func (m *Map) Drop(kind uint64) {
	*m = slices.DeleteFunc(*m, func(e Entry) bool { return e.Type == kind })
}

// Merge adds the entries of another map whose keys are not there.
func (m *Map) Merge(other Map) {
	for _, e := range other {
		if !slices.ContainsFunc(*m, func(own Entry) bool { return bytes.Equal(own.Key, e.Key) }) {
			*m = append(*m, e)
		}
	}
}

// Encode returns the packet in base64.
func (p *Packet) Encode() string {
	var raw bytes.Buffer
	raw.Write(psbtMagic)
	p.Global.sorted(byKey).write(&raw)
	for _, m := range p.Inputs {
		m.sorted(byKeyHash).write(&raw)
	}
	for _, m := range p.Outputs {
		m.sorted(byKey).write(&raw)
	}
	return base64.StdEncoding.EncodeToString(raw.Bytes())
}

// byKeyHash is the order of the entries of an input that have one type: signatures are in that of the
// hashes of their keys, as in Core.
func byKeyHash(e Entry) []byte {
	if e.Type == PartialSig {
		return btcutil.Hash160(e.Data)
	}
	return e.Key
}

// byKey is the order of all others.
func byKey(e Entry) []byte { return e.Key }

// sorted returns the entries in the order in which Core has them, what is final last.
func (m Map) sorted(by func(Entry) []byte) Map {
	const behind = 0x20
	rank := func(e Entry) uint64 {
		if e.Type == FinalScriptSig || e.Type == FinalWitness {
			return behind + e.Type
		}
		return e.Type
	}
	return slices.SortedStableFunc(slices.Values(m), func(a, b Entry) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), bytes.Compare(by(a), by(b)))
	})
}

// write writes the entries as they come.
func (m Map) write(to *bytes.Buffer) {
	for _, e := range m {
		_ = wire.WriteVarBytes(to, 0, e.Key) // a buffer does not fail
		_ = wire.WriteVarBytes(to, 0, e.Value)
	}
	to.WriteByte(0)
}

// Coin returns the output that an input spends, nil where that is not known.
func (p *Packet) Coin(i int) *wire.TxOut {
	if raw, ok := p.Inputs[i].One(NonWitnessUTXO); ok {
		return NewValue(raw).Tx(true).TxOut[p.Tx.TxIn[i].PreviousOutPoint.Index]
	}
	raw, ok := p.Inputs[i].One(WitnessUTXO)
	if !ok {
		return nil
	}
	return NewValue(raw).Output()
}

// Proven reports whether a signature may trust what is said of the output that an input spends: the
// transaction with the output is there, or the signature commits to the amount, as that of a witness
// does.
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

// SetFinal gives an input its final scripts. What was needed to make them goes.
func (p *Packet) SetFinal(i int, scriptSig []byte, witness wire.TxWitness) {
	m := &p.Inputs[i]
	m.Keep(NonWitnessUTXO, WitnessUTXO)
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
