package rawtx

import (
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

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

// tapscriptVersion is the version of leaves that are tapscripts.
const tapscriptVersion = byte(txscript.BaseLeafVersion)

// taproot returns the witness for an output key. As in Core the internal key is
// looked for first, then the output key itself, then the smallest witness of a
// leaf. Beyond Core, it also finds a key that becomes the output key by the tweak
// of BIP86, and the leaf that the client named.
func (p *producer) taproot(output []byte) ([][]byte, bool) {
	t := &p.data.tap
	if tree := p.with.Trees[[32]byte(output)]; tree != nil {
		t.addTree(tree)
	}
	t.musig.know(p.with.Together)
	if leaf, ok := p.with.Leaves[[32]byte(output)]; ok {
		t.addLeaf(leaf.Script, tapscriptVersion, leaf.ControlBlock)
	}
	if origin := p.tapOrigin(t.internal); origin != nil {
		t.noteOrigin(t.internal, origin, nil)
	}
	if origin := p.tapOrigin(output); origin != nil && p.with.OutputKeys {
		t.noteOrigin(output, origin, nil)
	}
	if t.keySig == nil {
		t.keySig = p.signOutput(output)
	}
	if t.keySig != nil {
		return [][]byte{t.keySig}, true
	}
	return p.tapscript()
}

// tapOrigin returns where a key comes from of which only the x coordinate is
// known, nil if it is not known.
func (p *producer) tapOrigin(x []byte) []byte {
	if x == nil || len(p.with.Origins) == 0 {
		return nil
	}
	for _, prefix := range []byte{secp256k1.PubKeyFormatCompressedEven, secp256k1.PubKeyFormatCompressedOdd} {
		if origin := p.with.Origins[hash160(append([]byte{prefix}, x...))]; origin != nil {
			return origin
		}
	}
	return nil
}

// signOutput returns the signature by an output key, nil if its private key is not
// known.
func (p *producer) signOutput(output []byte) []byte {
	if p.by == byDummy {
		return dummySchnorr
	}
	if p.by == byNone || !p.all {
		return p.togetherFor(output) // the hash needs all coins: where keys come from is noted
	}
	key := p.with.outputKey(output, &p.data.tap)
	if key == nil {
		return p.togetherFor(output)
	}
	hash, ok := p.spend.TaprootSigHash(p.index, byte(p.with.HashType), &script.TapPlace{})
	if !ok {
		return nil
	}
	return p.signSchnorr(key, hash[:])
}

// togetherFor returns the signature of several by an output key, nil while it is not complete.
func (p *producer) togetherFor(output []byte) []byte {
	if internal := p.data.tap.internal; internal != nil {
		return p.together(internal, nil, true)
	}
	return p.together(output, nil, false)
}

// dummySchnorr stands for a signature where only its size counts.
var dummySchnorr = make([]byte, 64)

// outputKey returns the private key of an output key, nil if none is known.
func (s *Signing) outputKey(output []byte, tree *tapData) *btcec.PrivateKey {
	if tree.internal != nil {
		if found := s.Keys.byXOnly(tree.internal); found != nil {
			return tweak(found.private, tree.root)
		}
	}
	if found := s.Keys.byXOnly(output); found != nil {
		return found.private
	}
	if s.packet {
		return nil
	}
	s.tweak.Do(func() { s.tweaked = s.Keys.tweaked() })
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
func (p *producer) tapscript() (best [][]byte, ok bool) {
	for _, leaf := range p.data.tap.leaves {
		if leaf.version != tapscriptVersion {
			continue
		}
		witness, found := descriptor.Satisfy(leaf.script, true, p.newTapSpender(leaf.script))
		if !found {
			continue
		}
		witness = append(witness, leaf.script, leaf.controls[0])
		if !ok || wire.TxWitness(witness).SerializeSize() < wire.TxWitness(best).SerializeSize() {
			best, ok = witness, true
		}
	}
	return best, ok
}
