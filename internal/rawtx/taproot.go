package rawtx

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/curve"
)

// Leaves are the tapscripts by which taproot outputs are to be spent, by the
// output keys.
type Leaves map[[32]byte]Leaf

// A Leaf is a tapscript and the proof that an output commits to it (BIP341).
type Leaf struct {
	Script       []byte
	ControlBlock []byte
}

// Add adds the leaf for an output script. It reports false for an output that
// is not taproot, or does not commit to the leaf.
func (l Leaves) Add(pkScript []byte, leaf Leaf) bool {
	f, output := formOf(pkScript)
	if f != payToTaproot {
		return false
	}
	control, err := txscript.ParseControlBlock(leaf.ControlBlock)
	if err != nil || control.LeafVersion != txscript.BaseLeafVersion ||
		txscript.VerifyTaprootLeafCommitment(control, output, leaf.Script) != nil {
		return false
	}
	l[[32]byte(output)] = leaf
	return true
}

// taproot returns the witness for an output key. As in Core the internal key is
// looked for first, then the output key itself, then the smallest witness of a
// leaf; beyond Core, also a key that becomes the output key by the tweak of
// BIP86, and the leaf that the client named.
func (p *producer) taproot(output []byte) ([][]byte, bool) {
	if !p.all {
		return nil, false // the hash needs all coins
	}
	tree := p.with.Trees[[32]byte(output)]
	if key := p.with.outputKey(output, tree); key != nil {
		hash, ok := p.spend.TaprootSigHash(p.index, byte(p.with.HashType), &script.TapPlace{})
		if !ok {
			return nil, false
		}
		return [][]byte{p.signSchnorr(key, hash[:])}, true
	}
	var leaves []descriptor.TapLeaf
	if tree != nil {
		leaves = slices.SortedStableFunc(slices.Values(tree.Leaves), func(a, b descriptor.TapLeaf) int {
			return cmp.Or(bytes.Compare(a.Script, b.Script), cmp.Compare(len(a.ControlBlock), len(b.ControlBlock)))
		})
	}
	if leaf, ok := p.with.Leaves[[32]byte(output)]; ok {
		leaves = append(leaves, descriptor.TapLeaf(leaf))
	}
	return p.tapscript(leaves)
}

// outputKey returns the private key of an output key, nil if none is known. tree
// may be nil.
func (s *Signing) outputKey(output []byte, tree *descriptor.TapTree) *btcec.PrivateKey {
	if tree != nil {
		if found := s.Keys.byXOnly(tree.Internal[1:]); found != nil {
			return tweak(found.private, tree.Root)
		}
	}
	if found := s.Keys.byXOnly(output); found != nil {
		return found.private
	}
	if s.tweaked == nil {
		s.tweaked = s.Keys.tweaked()
	}
	return s.tweaked[[32]byte(output)]
}

// tweaked returns the private keys of the outputs that commit to a key and to
// no script, by the output keys.
func (k Keys) tweaked() map[[32]byte]*btcec.PrivateKey {
	byOutput := make(map[[32]byte]*btcec.PrivateKey, len(k))
	for _, key := range k {
		if key.compressed {
			private := tweak(key.private, nil)
			scalar := private.Key.Bytes()
			byOutput[[32]byte(curve.PublicKey(&scalar, true)[1:])] = private
			clear(scalar[:])
		}
	}
	return byOutput
}

// signSchnorr signs a hash. The hash type is left away where it is the default.
func (p *producer) signSchnorr(key *btcec.PrivateKey, hash []byte) []byte {
	sig := signSchnorr(key, hash)
	if p.with.HashType != txscript.SigHashDefault {
		sig = append(sig, byte(p.with.HashType))
	}
	return sig
}

// tapscript returns the smallest witness of a leaf.
func (p *producer) tapscript(leaves []descriptor.TapLeaf) (best [][]byte, ok bool) {
	for _, leaf := range leaves {
		by, known := p.newTapSpender(leaf.Script)
		if !known {
			return nil, false
		}
		witness, found := descriptor.Satisfy(leaf.Script, true, by)
		if !found {
			continue
		}
		witness = append(witness, leaf.Script, leaf.ControlBlock)
		if !ok || wire.TxWitness(witness).SerializeSize() < wire.TxWitness(best).SerializeSize() {
			best, ok = witness, true
		}
	}
	return best, ok
}
