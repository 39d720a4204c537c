package descriptor

import (
	"bytes"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/seed61375155/trawl/descriptor/internal/miniscript"
)

// A Spender has what the witness of a script is made of.
type Spender interface {
	// Sign returns the signature by a public key of 33 bytes, in tapscripts
	// of 32, nil if there is none.
	Sign(public []byte) []byte

	// PublicKey returns the public key with a hash (RIPEMD160 of SHA256), nil
	// if it is not known.
	PublicKey(hash []byte) []byte

	// Older and After report whether the input passes a lock time (BIP112,
	// BIP65).
	Older(n uint32) bool
	After(n uint32) bool
}

// A Preimager is a [Spender] that knows preimages of hashes.
type Preimager interface {
	// Preimage returns what has a digest by a hash function: "sha256", "hash256",
	// "ripemd160" or "hash160". It is nil if it is not known.
	Preimage(function string, digest []byte) []byte
}

// Satisfy returns the witness of a script that a miniscript describes, without
// the script itself. The script is a tapscript or, for an output of version 0,
// a witness script. Of several witnesses it is the smallest that strangers
// cannot replace by another. It is false for other scripts, and if there is no
// such witness. Preimages are known to a [Preimager] alone.
func Satisfy(script []byte, tapscript bool, by Spender) ([][]byte, bool) {
	ctx := miniscript.P2WSH
	if tapscript {
		ctx = miniscript.Tapscript
	}
	s := &spender{Spender: by}
	e, ok := miniscript.Decode(script, ctx, s)
	if !ok {
		return nil, false
	}
	return e.Satisfy(s)
}

// spender knows the keys of a script by their numbers.
type spender struct {
	Spender

	public [][]byte
}

// KnowKey implements [miniscript.ScriptKeys].
func (s *spender) KnowKey(push []byte, hashed bool) bool {
	if hashed {
		push = s.PublicKey(push)
	}
	if push == nil {
		return false
	}
	s.public = append(s.public, push)
	return true
}

// Identity implements [miniscript.ScriptKeys].
func (s *spender) Identity(key int) string { return string(s.public[key]) }

// Sign implements [miniscript.Signer].
func (s *spender) Sign(key int) []byte { return s.Spender.Sign(s.public[key]) }

// Push implements [miniscript.Signer].
func (s *spender) Push(key int) []byte { return s.public[key] }

// Preimage implements [miniscript.Signer].
func (s *spender) Preimage(function string, digest []byte) []byte {
	if by, ok := s.Spender.(Preimager); ok {
		return by.Preimage(function, digest)
	}
	return nil
}

// A TapTree tells how to spend a taproot output (BIP341).
type TapTree struct {
	Internal []byte // public key of 33 bytes
	Root     []byte // of the Merkle tree; empty if there is none
	Leaves   []TapLeaf
}

// A TapLeaf is a tapscript, and the proof that an output commits to the script.
type TapLeaf struct {
	Script       []byte
	ControlBlock []byte
}

// spending returns what the tree is for the keys of one index.
func (t *taproot) spending(keys [][]byte) (*TapTree, error) {
	s := &TapTree{Internal: keys[t.internal.number]}
	if t.tree == nil {
		return s, nil
	}
	root, err := s.collect(t.tree, keys)
	if err != nil {
		return nil, err
	}
	s.Root = root[:]
	internal, err := secp256k1.ParsePubKey(s.Internal)
	if err != nil {
		return nil, err
	}
	output := txscript.ComputeTaprootOutputKey(internal, s.Root)
	head := byte(txscript.BaseLeafVersion) | output.SerializeCompressed()[0]&1
	for i := range s.Leaves {
		leaf := &s.Leaves[i]
		leaf.ControlBlock = append(append([]byte{head}, s.Internal[1:]...), leaf.ControlBlock...)
	}
	return s, nil
}

// collect adds the leaves of a tree, with the paths to its root in place of their
// control blocks, and returns the root.
func (s *TapTree) collect(t *tapTree, keys [][]byte) (*chainhash.Hash, error) {
	if t.leaf != nil {
		scripts, err := t.leaf.scripts(keys)
		if err != nil {
			return nil, err
		}
		s.Leaves = append(s.Leaves, TapLeaf{Script: scripts[0]})
		return leafHash(scripts[0]), nil
	}
	first := len(s.Leaves)
	left, err := s.collect(t.left, keys)
	if err != nil {
		return nil, err
	}
	middle := len(s.Leaves)
	right, err := s.collect(t.right, keys)
	if err != nil {
		return nil, err
	}
	for i := first; i < len(s.Leaves); i++ {
		sibling := right
		if i >= middle {
			sibling = left
		}
		s.Leaves[i].ControlBlock = append(s.Leaves[i].ControlBlock, sibling[:]...)
	}
	return branchHash(left, right), nil
}

func leafHash(script []byte) *chainhash.Hash {
	hash := txscript.NewBaseTapLeaf(script).TapHash()
	return &hash
}

func branchHash(left, right *chainhash.Hash) *chainhash.Hash {
	if bytes.Compare(left[:], right[:]) > 0 {
		left, right = right, left
	}
	return chainhash.TaggedHash(chainhash.TagTapBranch, left[:], right[:])
}
