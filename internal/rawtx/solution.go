package rawtx

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/slhdsa"
)

// signatures are what is known of how one input is signed, and what is learnt while it is.
type signatures struct {
	complete  bool // nothing is missing
	witnessed bool // it takes a witness
	scriptSig []byte
	witness   wire.TxWitness

	redeem        []byte // script that the output pays to by its hash; nil: not known
	witnessScript []byte // the same for a witness script

	byKey     map[[20]byte]keySig   // by the hash of the public key
	keys      map[[20]byte]knownKey // that scripts name; nil: they are not noted
	preimages map[string][]byte     // by hash function and digest
	tap       tapData               // of a taproot output
	tapByHash map[[20]byte][]byte   // x-only keys that are known
	p2mr      p2mrData              // of a P2MR output
	missing   Missing
}

// keySig is a signature, with its hash type, and the public key that it is by.
type keySig struct{ public, sig []byte }

// knownKey is a public key, and where it comes from.
type knownKey struct{ public, origin []byte }

// Missing is what an input lacks to be complete.
type Missing struct {
	Keys       [][20]byte // hashes of public keys that are not known
	Signatures [][20]byte // hashes of public keys whose signatures are missing
	Redeem     []byte     // hash of a script that is not known, of 20 bytes; nil: none is missing
	Witness    []byte     // the same of a witness script, of 32 bytes

	PQCKeys []slhdsa.PublicKey // keys of P2MR whose signatures are missing
}

// Origins tell where public keys come from, as fields of packets do (fingerprint and path), by the
// hashes of the keys.
type Origins map[[20]byte][]byte

// tapData is how a taproot output is spent.
type tapData struct {
	keySig   []byte
	sigs     map[tapPlace][]byte
	internal []byte // x-only; nil: not known
	root     []byte // nil: not known, or there is no tree
	leaves   []tapLeaf
	tree     []descriptor.TapLeaf // leaves from left to right, of the output's own tree
	origins  map[[32]byte]tapOrigin
	musig    musigData
}

// tapPlace is a key within a leaf, of taproot or P2MR.
type tapPlace struct{ key, leaf [32]byte }

// tapLeaf is a script of a tree, and the proofs for it, the shortest first.
type tapLeaf struct {
	script   []byte
	version  byte
	controls [][]byte
}

// tapOrigin is where a key of taproot comes from, and the hashes of the leaves that name it.
type tapOrigin struct {
	leaves map[[32]byte]bool
	origin []byte
}

// addLeaf adds a proof for a leaf.
func (t *tapData) addLeaf(script []byte, version byte, control []byte) {
	place, found := slices.BinarySearchFunc(t.leaves, script, func(l tapLeaf, script []byte) int {
		return cmp.Or(bytes.Compare(l.script, script), cmp.Compare(l.version, version))
	})
	if !found {
		t.leaves = slices.Insert(t.leaves, place, tapLeaf{script: script, version: version})
	}
	leaf := &t.leaves[place]
	at, known := slices.BinarySearchFunc(leaf.controls, control, func(a, b []byte) int {
		return cmp.Or(cmp.Compare(len(a), len(b)), bytes.Compare(a, b))
	})
	if !known {
		leaf.controls = slices.Insert(leaf.controls, at, control)
	}
}

// addTree adds what is known of the tree of an output.
func (t *tapData) addTree(tree *descriptor.TapTree) {
	if t.internal == nil {
		t.internal = tree.Internal[1:]
	}
	if t.root == nil && len(tree.Root) > 0 {
		t.root = tree.Root
	}
	for _, leaf := range tree.Leaves {
		t.addLeaf(leaf.Script, tapscriptVersion, leaf.ControlBlock)
	}
	t.tree = tree.Leaves
}

// noteOrigin notes where a key comes from, and a leaf that names it.
func (t *tapData) noteOrigin(key, origin []byte, leaf *[32]byte) {
	if t.origins == nil {
		t.origins = make(map[[32]byte]tapOrigin)
	}
	known, ok := t.origins[[32]byte(key)]
	if !ok {
		known = tapOrigin{make(map[[32]byte]bool), origin}
		t.origins[[32]byte(key)] = known
	}
	if leaf != nil {
		known.leaves[*leaf] = true
	}
}

// hashes returns the hashes of the leaves in their order.
func (o *tapOrigin) hashes() [][32]byte {
	return slices.SortedFunc(maps.Keys(o.leaves), func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
}
