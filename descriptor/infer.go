package descriptor

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// Infer describes an output script by a descriptor with checksum, as Bitcoin
// Core does when it knows no keys: pk() and multi() for scripts that hold
// their keys, rawtr() for taproot, rawmr()
// for P2MR, addr() for other scripts with an address,
// raw() for the rest. Keys of pk() and multi() need not lie on the curve, so
// not every result parses.
func Infer(script []byte, net *Network) string {
	return AddChecksum(inferBody(script, net))
}

func inferBody(script []byte, net *Network) string {
	s := net.solve(script)
	switch s.form {
	case typePubKey:
		if describable(s.data...) {
			return "pk(" + hex.EncodeToString(s.data[0]) + ")"
		}
	case typeMultisig:
		if describable(s.data...) {
			return inferMulti(s.threshold, s.data)
		}
	case typeWitnessTaproot:
		if onCurve(s.data[0]) {
			return "rawtr(" + hex.EncodeToString(s.data[0]) + ")"
		}
	case typeWitnessP2MR:
		return "rawmr(" + hex.EncodeToString(s.data[0]) + ")"
	}
	if address, ok := AddressOf(script, net); ok {
		return "addr(" + address + ")"
	}
	return "raw(" + hex.EncodeToString(script) + ")"
}

// describable reports whether no key is in the hybrid form, which descriptors
// cannot express.
func describable(keys ...[]byte) bool {
	for _, key := range keys {
		if key[0] > 4 {
			return false
		}
	}
	return true
}

func inferMulti(threshold int, keys [][]byte) string {
	var body strings.Builder
	body.WriteString("multi(" + strconv.Itoa(threshold))
	for _, key := range keys {
		body.WriteString("," + hex.EncodeToString(key))
	}
	body.WriteString(")")
	return body.String()
}

// onCurve reports whether 32 bytes are the x coordinate of a point.
func onCurve(xOnly []byte) bool {
	_, err := secp256k1.ParsePubKey(append([]byte{secp256k1.PubKeyFormatCompressedEven}, xOnly...))
	return err == nil
}
