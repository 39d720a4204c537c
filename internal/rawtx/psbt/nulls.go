package psbt

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/rawtx/internal/serial"
)

// Values that are the same as no entry, by the type.
var (
	inputNulls = map[uint64]func(value []byte) bool{
		WitnessUTXO: isNoOutput, RedeemScript: isEmpty, WitnessScript: isEmpty, FinalScriptSig: isEmpty,
		FinalWitness: isZero, TapInternalKey: isZero, TapMerkleRoot: isZero, P2MRRoot: isZero,
	}
	outputNulls = map[uint64]func(value []byte) bool{
		OutRedeemScript: isEmpty, OutWitnessScript: isEmpty, OutTapInternalKey: isZero,
	}
)

func isEmpty(value []byte) bool { return len(value) == 0 }

func isZero(value []byte) bool {
	return !slices.ContainsFunc(value, func(b byte) bool { return b != 0 })
}

func isNoOutput(value []byte) bool { return NewValue(value).Output().Value == -1 }

// without returns the map without values that are none.
func (m Map) without(nulls map[uint64]func(value []byte) bool) Map {
	return slices.DeleteFunc(m, func(e Entry) bool {
		null := nulls[e.Type]
		return null != nil && null(e.Value)
	})
}

// A TapOrigin says where a key of taproot comes from, and which leaves name it.
type TapOrigin struct {
	Leaves [][chainhash.HashSize]byte // their hashes in their order, each once
	Origin []byte                     // fingerprint and path
}

// NewTapOrigin reads the value of a derivation of taproot, which has been checked.
func NewTapOrigin(value []byte) TapOrigin {
	r := &serial.Reader{Rest: value}
	var o TapOrigin
	for range r.CompactSize() {
		o.Leaves = append(o.Leaves, [chainhash.HashSize]byte(r.Bytes(chainhash.HashSize)))
	}
	slices.SortFunc(o.Leaves, func(a, b [chainhash.HashSize]byte) int { return bytes.Compare(a[:], b[:]) })
	o.Leaves = slices.Compact(o.Leaves)
	o.Origin = r.Rest
	return o
}

// Value returns the origin as the value of an entry.
func (o *TapOrigin) Value() []byte {
	value := compactSize(uint64(len(o.Leaves)))
	for _, hash := range o.Leaves {
		value = append(value, hash[:]...)
	}
	return append(value, o.Origin...)
}

// Path returns the path of an origin: a fingerprint, and the steps from there.
func Path(origin []byte) []uint32 {
	var path []uint32
	for step := origin[min(4, len(origin)):]; len(step) >= 4; step = step[4:] {
		path = append(path, binary.LittleEndian.Uint32(step))
	}
	return path
}
