// Package slhdsa makes and checks the signatures of chains that pay only to
// P2MR outputs. They are of a stateless hash-based scheme of the family of
// SLH-DSA (FIPS 205) over SHA-256, with sizes of its own. Keys are 32 and 64
// bytes, signatures 3680 bytes, and a key may sign 2^30 times.
//
// It is none of the standard's twelve sets, and no signature of theirs is valid
// here. Two parts of the standard are replaced. FORS+C: the signer varies the
// salt until the last of the FORS indices is zero, so that the last tree need
// not be in the signature. WOTS+C: the hash of a message with a counter is
// taken whose digits have a fixed sum, so that no chains sign a checksum; the
// verifier seeks the same counter.
//
// Everything here is a pure function of its arguments. Secret bytes are hashed
// by instructions that take the same time for all bytes, they index no table
// and decide no branch; what a signature shows by itself may. The package
// cannot count the signatures of a key, yet makes none that was not counted
// before: see [Reserve].
package slhdsa

import "errors"

// Sizes in bytes.
const (
	PublicKeySize  = 2 * nodeSize
	PrivateKeySize = 4 * nodeSize
	SignatureSize  = 3680
	EntropySize    = 128 // least number of bytes that make a key
)

// The errors of keys and signatures.
var (
	// ErrKeySize reports a key of another size.
	ErrKeySize = errors.New("wrong size of a key")
	// ErrEntropy reports less than [EntropySize] bytes to make a key from.
	ErrEntropy = errors.New("too little entropy for a key")
	// ErrKeyMismatch reports a private key whose public half is not its own,
	// or that was zeroed.
	ErrKeyMismatch = errors.New("public half does not belong to the private key")
	// ErrNoSalt reports a message that no salt was found for, which happens to
	// one in 2^40.
	ErrNoSalt = errors.New("no salt gives a signature")
	// ErrNoCounter reports a node that no counter gives the digit sum for,
	// which happens to one in 2^126.
	ErrNoCounter = errors.New("no counter gives the digit sum")
)

// nodeSize is n of FIPS 205: the size of seeds, tree nodes and chain values.
const nodeSize = 16

// A node is a seed, a tree node or a chain value.
type node [nodeSize]byte

// params are the sizes of an instance of the scheme. All instances have n = 16
// and w = 256 (see wots.go); smaller ones serve tests.
type params struct {
	layers      int // d: how many trees are on top of each other
	layerHeight int // h'
	trees       int // k: FORS indices in a digest; the last has no tree
	treeHeight  int // a: height of a FORS tree, at most 16
}

// bounded is the instance that the chains use.
var bounded = params{layers: 5, layerHeight: 6, trees: 8, treeHeight: 16}

// forsSize is the size of one FORS tree in a signature.
func (p params) forsSize() int { return (1 + p.treeHeight) * nodeSize }

// layerSize is the size of one layer of the hypertree in a signature.
func (p params) layerSize() int { return (chains + p.layerHeight) * nodeSize }

// layersAt is where the layers begin in a signature.
func (p params) layersAt() int { return nodeSize + (p.trees-1)*p.forsSize() }

func (p params) signatureSize() int { return p.layersAt() + p.layers*p.layerSize() }

// salts is how many salts are tried: 28 times as many as are needed on average.
func (p params) salts() uint32 { return 28 << p.treeHeight }
