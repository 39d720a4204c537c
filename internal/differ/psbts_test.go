package differ_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"io"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/differ"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// TestPSBTs compares the decoded contents of PSBTs whose maps hold random
// fields of all types. Most fields are right, many have a wrong size, key or
// value, and some PSBTs are damaged anywhere.
func TestPSBTs(t *testing.T) {
	p := differ.Start(t, differ.Config{})
	x := psbts{transactions{keys: keys{differ.Random(t)}}, p.Later}
	for left := differ.Cases(t, 4000); left > 0; left -= batch {
		calls := make([]differ.Call, batch)
		for i := range calls {
			text := base64.StdEncoding.EncodeToString(x.make())
			calls[i] = differ.Call{Method: "decodepsbt", Params: []any{text}}
		}
		p.Send(calls...)
	}
	p.Alive()
}

// psbts makes PSBTs by chance.
type psbts struct {
	transactions

	later bool // of version 2, too
}

func (x psbts) make() []byte {
	previous := wire.NewMsgTx(2)
	previous.AddTxIn(&wire.TxIn{})
	for range 1 + x.IntN(3) {
		previous.AddTxOut(&wire.TxOut{Value: int64(x.IntN(1e9)), PkScript: x.script()})
	}
	if x.later && x.IntN(2) == 0 {
		return x.damaged(x.version2(previous))
	}
	tx := wire.NewMsgTx(2)
	for range x.IntN(3) {
		at := wire.OutPoint{Hash: previous.TxHash(), Index: uint32(x.IntN(len(previous.TxOut)))}
		tx.AddTxIn(wire.NewTxIn(&at, nil, nil))
	}
	for range x.IntN(3) {
		tx.AddTxOut(&wire.TxOut{Value: int64(x.IntN(1e9)), PkScript: x.script()})
	}
	raw := bytes.NewBufferString("psbt\xff")
	x.field(raw, []byte{byte(psbt.UnsignedTx)}, serialized(tx.SerializeNoWitness))
	x.fields(raw, x.global)
	for range tx.TxIn {
		x.fields(raw, func() ([]byte, []byte) { return x.input(previous) })
	}
	for range tx.TxOut {
		x.fields(raw, x.output)
	}
	return x.damaged(raw.Bytes())
}

// fields writes what is left of a map.
func (x psbts) fields(raw *bytes.Buffer, next func() (key, value []byte)) {
	for range x.IntN(6) {
		key, value := next()
		x.field(raw, key, value)
		if x.IntN(40) == 0 {
			x.field(raw, key, value)
		}
	}
	raw.WriteByte(0)
}

// field writes a field, sometimes with something wrong.
func (x psbts) field(raw *bytes.Buffer, key, value []byte) {
	if x.IntN(40) == 0 {
		key = append(key, x.bytes(1+x.IntN(2))...)
	}
	switch x.IntN(40) {
	case 0:
		value = append(value, x.bytes(1+x.IntN(4))...)
	case 1:
		value = value[:x.IntN(len(value)+1)]
	}
	size := len(value)
	if x.IntN(40) == 0 {
		size = x.IntN(2*size + 300)
	}
	_ = wire.WriteVarBytes(raw, 0, key)
	_ = wire.WriteVarInt(raw, 0, uint64(size))
	raw.Write(value)
}

func (x psbts) global() (key, value []byte) {
	if x.later && x.IntN(30) == 0 { // which version 0 refuses
		return x.optionalGlobal()
	}
	switch x.IntN(4) {
	case 0:
		key := []byte{byte(psbt.XPub), 0x04, 0x35, 0x87, 0xcf, byte(x.IntN(3))}
		key = append(key, make([]byte, 4+4+31)...)
		key[6+x.IntN(8)] = byte(x.IntN(20) / 19) // parent or number
		key = append(key, byte(x.IntN(3)))
		return append(key, x.compressed()...), x.origin()
	case 1:
		return []byte{byte(psbt.Version)}, []byte{byte(x.IntN(20) / 19), 0, 0, 0}
	default:
		return x.foreign()
	}
}

func (x psbts) input(previous *wire.MsgTx) (key, value []byte) {
	if x.later && x.IntN(30) == 0 {
		return x.optionalInput()
	}
	switch x.IntN(23) {
	case 0:
		return []byte{byte(psbt.NonWitnessUTXO)}, serialized(previous.Serialize)
	case 1:
		return []byte{byte(psbt.NonWitnessUTXO)}, x.transaction()
	case 2:
		out := previous.TxOut[x.IntN(len(previous.TxOut))]
		var raw bytes.Buffer
		_ = wire.WriteTxOut(&raw, 0, 0, out)
		return []byte{byte(psbt.WitnessUTXO)}, raw.Bytes()
	case 3:
		signature := ecdsa.Sign(x.private(), x.bytes(32)).Serialize()
		if x.IntN(4) == 0 {
			signature[x.IntN(len(signature))] ^= 1 << x.IntN(8)
		}
		return x.key(psbt.PartialSig, x.anyKey()), append(signature, byte(x.IntN(5)))
	case 4:
		return []byte{byte(psbt.SigHash)}, []byte{byte(x.IntN(256)), 0, 0, 0}
	case 5:
		return []byte{byte(psbt.RedeemScript)}, x.script()
	case 6:
		return []byte{byte(psbt.WitnessScript)}, x.script()
	case 7:
		return x.key(psbt.Derivation, x.anyKey()), x.origin()
	case 8:
		return []byte{byte(psbt.FinalScriptSig)}, x.script()
	case 9:
		return []byte{byte(psbt.FinalWitness)}, x.witness()
	case 10:
		return x.key(psbt.Ripemd160, x.bytes(20)), x.bytes(x.IntN(40))
	case 11:
		return x.key(psbt.Sha256, x.bytes(32)), x.bytes(x.IntN(40))
	case 12:
		return x.key(psbt.Hash160, x.bytes(20)), x.bytes(x.IntN(40))
	case 13:
		return x.key(psbt.Hash256, x.bytes(32)), x.bytes(x.IntN(40))
	case 14:
		return []byte{byte(psbt.TapKeySig)}, x.bytes(63 + x.IntN(4))
	case 15:
		return x.key(psbt.TapScriptSig, x.bytes(64)), x.bytes(63 + x.IntN(4))
	case 16:
		return x.key(psbt.TapLeaf, x.bytes(33+32*x.IntN(3))), append(x.script(), 0xc0)
	case 17:
		return x.key(psbt.TapDerivation, x.bytes(32)), x.leaves()
	case 18:
		return []byte{byte(psbt.TapInternalKey + uint64(x.IntN(2)))}, x.hash()
	case 19:
		return x.key(psbt.MusigParticipants, x.loose()), x.participants()
	case 20:
		return x.key(psbt.MusigPubNonce, x.musig()), x.bytes(66)
	case 21:
		return x.key(psbt.MusigPartialSig, x.musig()), x.bytes(32)
	default:
		return x.foreign()
	}
}

func (x psbts) output() (key, value []byte) {
	switch x.IntN(8) {
	case 0:
		return []byte{byte(psbt.OutRedeemScript)}, x.script()
	case 1:
		return []byte{byte(psbt.OutWitnessScript)}, x.script()
	case 2:
		return x.key(psbt.OutDerivation, x.anyKey()), x.origin()
	case 3:
		return []byte{byte(psbt.OutTapInternalKey)}, x.hash()
	case 4:
		return []byte{byte(psbt.OutTapTree)}, x.tree(0)
	case 5:
		return x.key(psbt.OutTapDerivation, x.bytes(32)), x.leaves()
	case 6:
		return x.key(psbt.OutMusigParticipants, x.loose()), x.participants()
	default:
		return x.foreign()
	}
}

// foreign returns a field of somebody's own, or of an unknown type.
func (x psbts) foreign() (key, value []byte) {
	if x.IntN(2) == 0 {
		key := []byte{byte(psbt.Proprietary), byte(x.IntN(4))}
		return append(append(key, x.bytes(4)...), byte(x.IntN(3))), x.bytes(x.IntN(10))
	}
	return append([]byte{byte(x.IntN(256))}, x.bytes(x.IntN(4))...), x.bytes(x.IntN(10))
}

func (x psbts) key(kind uint64, data []byte) []byte { return append([]byte{byte(kind)}, data...) }

func (x psbts) compressed() []byte { return x.private().PubKey().SerializeCompressed() }

// anyKey returns a public key in one of its forms.
func (x psbts) anyKey() []byte {
	if x.IntN(4) != 0 {
		return x.compressed()
	}
	key := x.private().PubKey().SerializeUncompressed()
	if x.IntN(2) == 0 {
		key[0] = 6 | key[64]&1 // hybrid
	}
	return key
}

// origin returns a fingerprint of few, with a path.
func (x psbts) origin() []byte {
	value := []byte{1, 2, 3, byte(x.IntN(2))}
	for range x.IntN(3) {
		value = binary.LittleEndian.AppendUint32(value, uint32(x.IntN(2))<<31|uint32(x.IntN(3)))
	}
	return value
}

// leaves returns hashes with an origin.
func (x psbts) leaves() []byte {
	n := x.IntN(3)
	value := []byte{byte(n)}
	for range n {
		value = append(value, bytes.Repeat([]byte{byte(x.IntN(3))}, 32)...)
	}
	return append(value, x.origin()...)
}

func (x psbts) participants() []byte {
	var value []byte
	for range x.IntN(3) {
		value = append(value, x.loose()...)
	}
	return value
}

// musig returns a participant, what all of them make, and perhaps a leaf.
func (x psbts) musig() []byte {
	key := append(x.loose(), x.loose()...)
	if x.IntN(2) == 0 {
		key = append(key, x.hash()...)
	}
	return key
}

// loose returns a public key of few, or what has not the form of one.
func (x psbts) loose() []byte {
	_, public := btcec.PrivKeyFromBytes([]byte{1, byte(x.IntN(4))})
	key := public.SerializeCompressed()
	if x.IntN(4) == 0 {
		key[0] = byte(x.IntN(8))
	}
	return key
}

// hash returns a null hash or a random hash.
func (x psbts) hash() []byte {
	if x.IntN(4) == 0 {
		return make([]byte, 32)
	}
	return x.bytes(32)
}

func (x psbts) witness() []byte {
	n := x.IntN(3)
	raw := bytes.NewBuffer([]byte{byte(n)})
	for range n {
		_ = wire.WriteVarBytes(raw, 0, x.bytes(x.IntN(9)))
	}
	return raw.Bytes()
}

// tree returns the leaves of a taproot tree below a depth.
func (x psbts) tree(depth byte) []byte {
	if x.IntN(2) == 0 && depth < 5 {
		return append(x.tree(depth+1), x.tree(depth+1)...)
	}
	if x.IntN(30) == 0 {
		depth++
	}
	raw := bytes.NewBuffer([]byte{depth, byte(txscript.BaseLeafVersion) | byte(x.IntN(30)/29)})
	_ = wire.WriteVarBytes(raw, 0, x.script())
	return raw.Bytes()
}

// damaged cuts, changes or adds something, in some cases.
func (x psbts) damaged(raw []byte) []byte {
	switch at := x.IntN(len(raw)); x.IntN(12) {
	case 0:
		return raw[:at]
	case 1:
		raw[at] ^= 1 << x.IntN(8)
	case 2:
		return append(raw[:at:at], raw[min(at+1+x.IntN(4), len(raw)):]...)
	case 3:
		return append(raw, x.bytes(1)...)
	}
	return raw
}

func serialized(write func(io.Writer) error) []byte {
	var raw bytes.Buffer
	_ = write(&raw)
	return raw.Bytes()
}
