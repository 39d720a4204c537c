// Package p2mr has the rules of pay-to-Merkle-root outputs that need no chain:
// keys from BIP32 keys, outputs from script trees, proofs of control blocks,
// messages of signatures.
//
// A P2MR output (BIP 360, witness version 2) pays to the root of a tree of
// scripts. It is what Taproot is without the internal key: no key path, no
// tweak, and the root itself is the witness program. Signatures are those of
// package slhdsa.
package p2mr

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"

	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/internal/slhdsa"
)

// Opcodes of P2MR scripts beyond those of tapscript (BIP342).
const (
	OpCheckSigPQC        = 0xb3
	OpCheckSigAdd        = 0xba // BIP342's, for signatures of package slhdsa
	OpCheckTemplate      = 0xbb // BIP119
	OpCheckDataSigPQC    = 0xbc
	OpCheckDataSigAddPQC = 0xbd
)

// opWitnessVersion pushes the witness version of P2MR.
const opWitnessVersion = 0x52

// MaxSignatures is how many signatures fit into a witness that policy allows.
const MaxSignatures = 35

// ScriptVersion is the leaf version of scripts that are executed.
const ScriptVersion byte = 0xc0

// A Hash is a leaf, a branch or the root of a script tree, in the order of its
// bytes.
type Hash [sha256.Size]byte

// String returns the hash in hex, in the order of its bytes.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// KeyScript returns the leaf script that a single signature of the key
// satisfies.
func KeyScript(key slhdsa.PublicKey) []byte {
	script := make([]byte, 0, slhdsa.PublicKeySize+2)
	script = append(script, slhdsa.PublicKeySize)
	script = append(script, key[:]...)
	return append(script, OpCheckSigPQC)
}

// MultiScript returns the leaf script that signatures of threshold of the keys
// satisfy: one key at least, in the order in which they are given, and threshold
// from 1 to their number.
func MultiScript(threshold int, keys []slhdsa.PublicKey) []byte {
	var script []byte
	for i, key := range keys {
		script = append(append(script, slhdsa.PublicKeySize), key[:]...)
		if i == 0 {
			script = append(script, OpCheckSigPQC)
		} else {
			script = append(script, OpCheckSigAdd)
		}
	}
	number, _ := txscript.NewScriptBuilder().AddInt64(int64(threshold)).Script() // it fits
	return append(append(script, number...), txscript.OP_NUMEQUAL)
}

// LeafHash returns the hash of a leaf script of a version, whose lowest bit is
// ignored.
func LeafHash(version byte, script []byte) Hash {
	var joined bytes.Buffer
	joined.WriteByte(version &^ 1)
	writeBytes(&joined, script)
	return tagLeaf.hash(joined.Bytes())
}

// BranchHash returns the hash of a branch, in which left and right are the same.
func BranchHash(a, b Hash) Hash {
	if bytes.Compare(a[:], b[:]) > 0 {
		a, b = b, a
	}
	return tagBranch.hash(a[:], b[:])
}

// OutputScript returns the script of an output that pays to a root.
func OutputScript(root Hash) []byte {
	return append([]byte{opWitnessVersion, byte(len(root))}, root[:]...)
}

// ParseOutputScript returns the root that an output pays to. ok is false if the
// output is not P2MR; witness programs of version 2 with another size are not.
func ParseOutputScript(script []byte) (root Hash, ok bool) {
	if len(script) != 2+len(root) || script[0] != opWitnessVersion || int(script[1]) != len(root) {
		return Hash{}, false
	}
	return Hash(script[2:]), true
}
