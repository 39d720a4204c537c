package p2mr

import (
	"bytes"
	"errors"

	"github.com/seed61375155/trawl/internal/slhdsa"
)

// The faults of proofs of signed data, in the reference's words.
var (
	// ErrProofLeaf reports a script that is not [KeyScript] of the key.
	ErrProofLeaf = errors.New("leaf_script is not a single-key P2MR pubkey leaf for pubkey")
	// ErrProofRoot reports a script that is no leaf of the output's tree.
	ErrProofRoot = errors.New("leaf_script/control_block do not match address")
	// ErrProofSignature reports a signature of something else, or of another key.
	ErrProofSignature = errors.New("signature does not verify")
)

// DataProofMode is the only form of proofs of signed data, as they name it.
const DataProofMode = "p2mr-pubkey"

// A DataProof shows that a key behind a P2MR output has signed data, whose hash it has.
type DataProof struct {
	Root      Hash // what the output pays to
	Data      Hash // of the data; [DataHash] of it is signed
	Key       slhdsa.PublicKey
	Signature []byte
	Script    []byte // the leaf with the key
	Control   ControlBlock
}

// Verify checks the proof. It needs nothing else.
//
// Errors: [ErrProofLeaf], [ErrProofRoot], [ErrProofSignature].
func (p *DataProof) Verify() error {
	if key, ok := SingleKey(p.Script); !ok || key != p.Key {
		return ErrProofLeaf
	}
	if root, _ := p.Control.Root(p.Script); root != p.Root {
		return ErrProofRoot
	}
	if signed := DataHash(p.Data); !p.Key.Verify(signed[:], p.Signature) {
		return ErrProofSignature
	}
	return nil
}

// SingleKey takes a leaf script of [KeyScript] apart.
func SingleKey(script []byte) (key slhdsa.PublicKey, ok bool) {
	_, keys, ok := MatchKeys(script)
	if !ok || len(keys) != 1 || !bytes.Equal(script, KeyScript(keys[0])) {
		return slhdsa.PublicKey{}, false
	}
	return keys[0], true
}
