package psbt

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"slices"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// Encode returns the packet in base64, in its version: the fields of each map in the order in which Core has them.
func (p *Packet) Encode() string {
	var raw bytes.Buffer
	raw.Write(psbtMagic)
	global, inputs, outputs := p.maps()
	global.write(&raw, &globalForm)
	for i, m := range inputs {
		form := &inputForm
		if p.Final(i) {
			form = &finalForm
		}
		m.write(&raw, form)
	}
	for _, m := range outputs {
		m.write(&raw, &outputForm)
	}
	return base64.StdEncoding.EncodeToString(raw.Bytes())
}

// A form is how one kind of map is written.
type form struct {
	types []uint64                      // in their order; others that are known are left out
	known func(uint64) bool             // types that are known
	order map[uint64]func(Entry) []byte // of the entries of a type, where that is not their key
}

// unknownRank is the place of types that are not known, which come last.
const unknownRank = 1 << 10

func (f *form) rank(e Entry) int {
	if !f.known(e.Type) {
		return unknownRank
	}
	return slices.Index(f.types, e.Type)
}

func (f *form) key(e Entry) []byte {
	if by := f.order[e.Type]; by != nil {
		return by(e)
	}
	return e.Key
}

var (
	globalForm = form{
		types: []uint64{
			UnsignedTx, XPub, txVersion, FallbackLockTime, inputCount, outputCount, TxModifiable, Version, Proprietary,
		},
		known: globalRules.knows,
		order: map[uint64]func(Entry) []byte{XPub: byOrigin},
	}
	inputForm = form{
		types: append([]uint64{
			NonWitnessUTXO, WitnessUTXO, PartialSig, SigHash, RedeemScript, WitnessScript, Derivation,
			Ripemd160, Sha256, Hash160, Hash256, TapKeySig, TapScriptSig, TapLeaf, P2MRSig, P2MRLeaf,
			TapDerivation,
			TapInternalKey, TapMerkleRoot, P2MRRoot, MusigParticipants, MusigPubNonce, MusigPartialSig,
		}, v2Types...),
		known: inputRules.knows,
		order: map[uint64]func(Entry) []byte{
			PartialSig: byKeyHash, TapLeaf: byLeaf, P2MRLeaf: byLeaf,
			MusigPubNonce: byAggregate, MusigPartialSig: byAggregate,
		},
	}

	// An input that is final has no other fields but these.
	finalForm = form{
		types: append([]uint64{NonWitnessUTXO, WitnessUTXO, FinalScriptSig, FinalWitness}, v2Types...),
		known: inputRules.knows,
	}
	outputForm = form{
		types: []uint64{
			OutRedeemScript, OutWitnessScript, OutDerivation, outAmount, outScript, Proprietary, OutTapInternalKey,
			OutTapTree, OutTapDerivation, OutMusigParticipants,
		},
		known: outputRules.knows,
	}
)

// v2Types are the types of fields of inputs that version 2 has added. They are written after all others.
var v2Types = []uint64{previousTxID, outputIndex, Sequence, TimeLock, HeightLock, Proprietary}

// knows reports whether a type has a meaning, in whichever version and network.
func (s *ruleSet) knows(kind uint64) bool {
	_, ok := s.types[kind]
	return ok || writtenAs[kind] != nil
}

// byKeyHash is the order of signatures: that of the hashes of their keys.
func byKeyHash(e Entry) []byte { return btcutil.Hash160(e.Data) }

// byAggregate is the order of what participants of a MuSig2 key make: by that key and the leaf, then by
// the participant. A key that has not the form of one is behind the others.
func byAggregate(e Entry) []byte {
	const size = btcec.PubKeyBytesLenCompressed
	participant, rest := e.Data[:size], e.Data[size:]
	order := append(bytes.Clone(rest), make([]byte, size+chainhash.HashSize-len(rest))...)
	return append(order, participant...)
}

// byLeaf is the order of scripts of leaves: by themselves and their version, then the shortest proof first.
func byLeaf(e Entry) []byte {
	code, version := e.Value[:len(e.Value)-1], e.Value[len(e.Value)-1]
	order := escaped(code)
	order = append(order, version)
	order = binary.BigEndian.AppendUint32(order, uint32(len(e.Data)))
	return append(order, e.Data...)
}

// escaped returns bytes that are in the order of the given ones whatever is behind them.
func escaped(b []byte) []byte {
	order := make([]byte, 0, len(b)+2)
	for _, c := range b {
		if c == 0 {
			order = append(order, 0, 1)
			continue
		}
		order = append(order, c)
	}
	return append(order, 0, 0)
}

// byOrigin is the order of extended keys: by where they come from, the shorter path first, then by
// themselves.
func byOrigin(e Entry) []byte {
	const chainCode = 4 + 1 + 4 + 4
	origin, key := e.Value, e.Data
	order := append(bytes.Clone(origin[:4]), 0, 0, 0, 0)
	binary.BigEndian.PutUint32(order[4:], uint32(len(origin)/4))
	for step := origin[4:]; len(step) >= 4; step = step[4:] {
		order = binary.BigEndian.AppendUint32(order, binary.LittleEndian.Uint32(step))
	}
	order = append(order, key[chainCode+32:]...)
	return append(order, key[chainCode:chainCode+32]...)
}

// write writes the entries of a map that its form has.
func (m Map) write(to *bytes.Buffer, f *form) {
	type placed struct {
		Entry

		rank int
		key  []byte
	}
	var entries []placed
	for _, e := range m {
		if rank := f.rank(e); rank >= 0 {
			entries = append(entries, placed{e, rank, f.key(e)})
		}
	}
	slices.SortStableFunc(entries, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), bytes.Compare(a.key, b.key))
	})
	loose := f != &globalForm && f != &finalForm
	for _, e := range entries {
		key, value := e.Key, e.Value
		if loose && e.rank != unknownRank {
			key, value = e.written(f == &inputForm)
		}
		if f != &outputForm && f != &globalForm && e.Type == NonWitnessUTXO {
			value = Serialize(NewValue(value).Tx(true), false)
		}
		_ = wire.WriteVarBytes(to, 0, key) // a buffer does not fail
		_ = wire.WriteVarBytes(to, 0, value)
	}
	to.WriteByte(0)
}

// written returns key and value of an entry as they are written. As in Core, leaf hashes are sorted,
// and MuSig2 public keys without the form of a public key are left out.
func (e *Entry) written(input bool) (key, value []byte) {
	var keys int
	switch {
	case input && e.Type == MusigParticipants, !input && e.Type == OutMusigParticipants:
		keys = 1
		for rest := e.Value; len(rest) > 0; rest = rest[len(noKey):] {
			if participant := rest[:len(noKey)]; IsKey(participant) {
				value = append(value, participant...)
			}
		}
	case input && (e.Type == MusigPubNonce || e.Type == MusigPartialSig):
		keys, value = 2, e.Value
	case input && e.Type == TapDerivation, !input && e.Type == OutTapDerivation:
		origin := NewTapOrigin(e.Value)
		return e.Key, origin.Value()
	default:
		return e.Key, e.Value
	}
	kind, data := e.Key[:len(e.Key)-len(e.Data)], e.Data
	key = bytes.Clone(kind)
	for range keys {
		if IsKey(data[:len(noKey)]) {
			key = append(key, data[:len(noKey)]...)
		}
		data = data[len(noKey):]
	}
	return append(key, data...), value
}

// compactSize returns a number as serialized.
func compactSize(n uint64) []byte {
	var to bytes.Buffer
	_ = wire.WriteVarInt(&to, 0, n) // a buffer does not fail
	return to.Bytes()
}
