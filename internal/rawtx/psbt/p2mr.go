package psbt

import (
	"bytes"
	"maps"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/rawtx/internal/serial"
	"github.com/seed61375155/trawl/internal/slhdsa"
)

// Types of inputs that spend P2MR outputs. A packet of another network has none of them, whatever stands in
// it: they are greater than any type that can be read. Two of them may have come by two keys each.
const (
	P2MRSig  uint64 = 1<<32 + iota // of a key and a leaf: 32 bytes of each; with its hash type
	P2MRLeaf                       // by its control block: a script and its version, as of taproot
	P2MRRoot                       // that the output pays to
)

// qbitName is how keys of proprietary fields begin that qbit has invented.
var qbitName = []byte("\x04qbit")

// writtenAs are the keys of types that are not written as they are, up to their data.
var writtenAs = func() map[uint64][]byte {
	keys := map[uint64][]byte{
		P2MRSig: {typeP2MRSig}, P2MRLeaf: {typeP2MRLeaf}, P2MRRoot: []byte("\xfc\x04qbit\x01"),
	}
	for _, f := range slices.Concat(v2Global, v2Input, v2Output) {
		keys[f.kind] = []byte{f.written}
	}
	return keys
}()

// Types as they are read and written.
const (
	typeP2MRSig  = 0x19
	typeP2MRLeaf = 0x1d

	qbitRoot = 0x01
	qbitLeaf = 0x02
	qbitSig  = 0x03
)

// keyOf returns the begin of the keys of a type.
func keyOf(kind uint64) []byte {
	if key, ok := writtenAs[kind]; ok {
		return bytes.Clone(key)
	}
	return compactSize(kind)
}

// Texts of these rules are qbit's.
var p2mrInputRules = ruleSet{
	kind: inputRules.kind, name: inputRules.name,
	types: func() map[uint64]rule {
		types := maps.Clone(inputRules.types)
		types[typeP2MRSig] = p2mrSig("input P2MR", "P2MR", "Input P2MR script signature key is not 65 bytes", 0)
		types[typeP2MRLeaf] = p2mrLeaf("input P2MR", "P2MR", "Input P2MR", 0)
		return types
	}(),
	qbit: map[byte]rule{
		qbitRoot: {
			sizes: []int{1 + qbitHead}, size: "qbit P2MR merkle root key is more than one byte type",
			duplicate: "Duplicate Key, qbit P2MR merkle root already provided", read: exactly(chainhash.HashSize),
			meaning: P2MRRoot, head: qbitHead,
		},
		qbitLeaf: p2mrLeaf("qbit P2MR", "qbit P2MR", "qbit P2MR", qbitHead),
		qbitSig:  p2mrSig("qbit P2MR", "qbit P2MR", "qbit P2MR script signature key is not 64 bytes", qbitHead),
	},
}

// qbitHead is how many bytes of the data of a key say which of qbit's fields it is.
const qbitHead = 6

// p2mrSig is the rule of a signature, by what the errors call it.
func p2mrSig(twice, name, size string, head int) rule {
	return rule{
		sizes: []int{1 + head + slhdsa.PublicKeySize + chainhash.HashSize}, size: size,
		duplicate: "Duplicate Key, " + twice + " script signature already provided",
		value: func(sig []byte) error {
			switch {
			case len(sig) < slhdsa.SignatureSize:
				return serial.Error(name + " script signature is shorter than expected")
			case len(sig) > slhdsa.SignatureSize+1:
				return serial.Error(name + " script signature is longer than expected")
			case len(sig) > slhdsa.SignatureSize && sig[slhdsa.SignatureSize] == byte(txscript.SigHashDefault):
				return serial.Error(name + " script signature has invalid sighash type")
			}
			return nil
		},
		meaning: P2MRSig, head: head,
	}
}

// p2mrLeaf is the rule of a script, by what the errors call it.
func p2mrLeaf(twice, name, value string, head int) rule {
	return rule{
		duplicate: "Duplicate Key, " + twice + " leaf script already provided",
		key: func(data []byte) error {
			switch control := data[head:]; {
			case len(control)%chainhash.HashSize != 1 || len(control)/chainhash.HashSize > p2mr.MaxDepth:
				return serial.Error(name + " leaf script key has an invalid control block size")
			case control[0]&1 == 0:
				return serial.Error(name + " control byte bit 0 must be set")
			}
			return nil
		},
		value: func(script []byte) error {
			if len(script) == 0 {
				return serial.Error(value + " leaf script must be at least 1 byte")
			}
			return nil
		},
		meaning: P2MRLeaf, head: head,
	}
}
