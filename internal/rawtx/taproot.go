package rawtx

import (
	"slices"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/txscript"
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

// taproot returns the witness for an output key. As in Core the key itself is
// looked for first; then, beyond Core, one that becomes it by the tweak of
// BIP86, and the leaf that the client named.
func (p *producer) taproot(output []byte) ([][]byte, bool) {
	if !p.all {
		return nil, false // the hash needs all coins
	}
	if key := p.with.outputKey(output); key != nil {
		hash, err := txscript.CalcTaprootSignatureHash(p.hashes, p.with.HashType, p.tx, p.index, p.coins)
		if err != nil {
			return nil, false
		}
		sig, ok := p.signSchnorr(key, hash)
		return [][]byte{sig}, ok
	}
	if leaf, ok := p.with.Leaves[[32]byte(output)]; ok {
		return p.tapscript(leaf)
	}
	return nil, false
}

// outputKey returns the private key of an output key, nil if none is known.
func (s *Signing) outputKey(output []byte) *btcec.PrivateKey {
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
			private := txscript.TweakTaprootPrivKey(*key.private, nil)
			byOutput[[32]byte(schnorr.SerializePubKey(private.PubKey()))] = private
		}
	}
	return byOutput
}

// signSchnorr signs with the zero bytes that Core uses as additional data of
// the nonce (BIP340). The hash type is left away where it is the default.
func (p *producer) signSchnorr(key *btcec.PrivateKey, hash []byte) ([]byte, bool) {
	sig, err := schnorr.Sign(key, hash, schnorr.CustomNonce([32]byte{}))
	if err != nil {
		return nil, false
	}
	raw := sig.Serialize()
	if p.with.HashType != txscript.SigHashDefault {
		raw = append(raw, byte(p.with.HashType))
	}
	return raw, true
}

// tapscript returns the witness of a leaf that is one key or multi_a().
func (p *producer) tapscript(leaf Leaf) ([][]byte, bool) {
	required, keys := tapscriptKeys(leaf.Script)
	hash, err := txscript.CalcTapscriptSignaturehash(
		p.hashes, p.with.HashType, p.tx, p.index, p.coins, txscript.NewBaseTapLeaf(leaf.Script))
	if err != nil || len(keys) == 0 {
		return nil, false
	}
	sigs := make([][]byte, len(keys))
	made := 0
	for i, xOnly := range keys {
		key := p.with.Keys.byXOnly(xOnly)
		if key == nil || made == required {
			continue
		}
		if sig, ok := p.signSchnorr(key.private, hash); ok {
			sigs[i] = sig
			made++
		}
	}
	slices.Reverse(sigs) // the first key takes the top of the stack
	return append(sigs, leaf.Script, leaf.ControlBlock), made == required
}

// tapscriptKeys returns the keys of <key> CHECKSIG, or of one of these followed
// by <key> CHECKSIGADD … <required> NUMEQUAL. Other scripts have none.
func tapscriptKeys(script []byte) (required int, keys [][]byte) {
	tokens := txscript.MakeScriptTokenizer(0, script)
	for tokens.Next() && len(tokens.Data()) == schnorr.PubKeyBytesLen {
		keys = append(keys, tokens.Data())
		check := byte(txscript.OP_CHECKSIGADD)
		if len(keys) == 1 {
			check = txscript.OP_CHECKSIG
		}
		if !tokens.Next() || tokens.Opcode() != check {
			return 0, nil
		}
	}
	if tokens.Done() && len(keys) == 1 {
		return 1, keys
	}
	required = countOf(&tokens)
	if required < 1 || required > len(keys) || !tokens.Next() || tokens.Opcode() != txscript.OP_NUMEQUAL || !tokens.Done() {
		return 0, nil
	}
	return required, keys
}

// countOf reads the last token as a number of keys; 0 if it is none.
func countOf(token *txscript.ScriptTokenizer) int {
	if txscript.IsSmallInt(token.Opcode()) {
		return txscript.AsSmallInt(token.Opcode())
	}
	n, err := txscript.MakeScriptNum(token.Data(), true, 2)
	if err != nil {
		return 0
	}
	return int(n.Int32())
}
