package synth

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
)

// The kinds of outputs that are spent by a signature.
const (
	payToWitnessKey = iota
	payToTaprootKey
	payToTaprootScript
	payToMultisig // 2 of 3
	signedKinds
)

// kind returns which kind output n of a coinbase is.
func kind(n int) int { return n % signedKinds }

// key returns the private key of an output; a multisig has three.
func (c Spending) key(height, n, which int) *btcec.PrivateKey {
	seed := binary.LittleEndian.AppendUint64(nil, mix(c.Seed)+uint64(which))
	seed = binary.LittleEndian.AppendUint64(seed, uint64(height)<<32|uint64(n))
	hash := sha256.Sum256(seed)
	private, _ := btcec.PrivKeyFromBytes(hash[:])
	return private
}

// output returns the script of output n of a coinbase.
func (c Spending) output(height, n int) []byte {
	if !c.Signed {
		return witnessScriptHash(c.unsignedScript(height, n))
	}
	key := c.key(height, n, 0)
	switch kind(n) {
	case payToWitnessKey:
		return append([]byte{txscript.OP_0, 20}, btcutil.Hash160(key.PubKey().SerializeCompressed())...)
	case payToTaprootKey:
		return taproot(txscript.ComputeTaprootKeyNoScript(key.PubKey()))
	case payToTaprootScript:
		tree := txscript.AssembleTaprootScriptTree(leaf(key))
		hash := tree.RootNode.TapHash()
		return taproot(txscript.ComputeTaprootOutputKey(key.PubKey(), hash[:]))
	default:
		return witnessScriptHash(c.multisig(height, n))
	}
}

func witnessScriptHash(script []byte) []byte {
	hash := sha256.Sum256(script)
	return append([]byte{txscript.OP_0, 32}, hash[:]...)
}

func taproot(key *btcec.PublicKey) []byte {
	return append([]byte{txscript.OP_1, 32}, schnorr.SerializePubKey(key)...)
}

func leaf(key *btcec.PrivateKey) txscript.TapLeaf {
	script := append([]byte{32}, schnorr.SerializePubKey(key.PubKey())...)
	return txscript.NewBaseTapLeaf(append(script, txscript.OP_CHECKSIG))
}

func (c Spending) multisig(height, n int) []byte {
	script := []byte{txscript.OP_2}
	for which := range 3 {
		script = append(append(script, 33), c.key(height, n, which).PubKey().SerializeCompressed()...)
	}
	return append(script, txscript.OP_3, txscript.OP_CHECKMULTISIG)
}

// unsignedScript takes one item from the stack and needs no signature. Each is another.
func (c Spending) unsignedScript(height, n int) []byte {
	script := []byte{txscript.OP_DROP, 8}
	script = binary.LittleEndian.AppendUint64(script, uint64(height)<<32|uint64(n)|c.Seed<<56)
	return append(script, txscript.OP_DROP, txscript.OP_TRUE)
}

// unlock gives the inputs of a transaction their witnesses: they spend outputs of the
// coinbase of a height, from number first on.
func (c Spending) unlock(tx *wire.MsgTx, height, first int) error {
	if !c.Signed {
		for i, in := range tx.TxIn {
			item := binary.LittleEndian.AppendUint32(nil, uint32(first+i)) // as long as a signature and a key
			in.Witness = wire.TxWitness{
				append(item, bytes.Repeat([]byte{1}, 103)...), c.unsignedScript(height, first+i),
			}
		}
		return nil
	}
	spent := txscript.NewMultiPrevOutFetcher(nil)
	for i, in := range tx.TxIn {
		spent.AddPrevOut(in.PreviousOutPoint, wire.NewTxOut(perOutput, c.output(height, first+i)))
	}
	hashes := txscript.NewTxSigHashes(tx, spent)
	for i := range tx.TxIn {
		if err := c.sign(tx, hashes, i, height, first+i); err != nil {
			return err
		}
	}
	return nil
}

func (c Spending) sign(tx *wire.MsgTx, hashes *txscript.TxSigHashes, i, height, n int) (err error) {
	key, script, in := c.key(height, n, 0), c.output(height, n), tx.TxIn[i]
	switch kind(n) {
	case payToWitnessKey:
		in.Witness, err = txscript.WitnessSignature(tx, hashes, i, perOutput, script, txscript.SigHashAll, key, true)
	case payToTaprootKey:
		in.Witness, err = txscript.TaprootWitnessSignature(
			tx, hashes, i, perOutput, script, txscript.SigHashDefault, key)
	case payToTaprootScript:
		tree := txscript.AssembleTaprootScriptTree(leaf(key))
		control := tree.LeafMerkleProofs[0].ToControlBlock(key.PubKey())
		proof, controlErr := control.ToBytes()
		if controlErr != nil {
			return controlErr
		}
		signature, signErr := txscript.RawTxInTapscriptSignature(
			tx, hashes, i, perOutput, script, leaf(key), txscript.SigHashDefault, key)
		in.Witness, err = wire.TxWitness{signature, leaf(key).Script, proof}, signErr
	default:
		script := c.multisig(height, n)
		in.Witness = wire.TxWitness{nil}
		for which := range 2 {
			signature, err := txscript.RawTxInWitnessSignature(
				tx, hashes, i, perOutput, script, txscript.SigHashAll, c.key(height, n, which))
			if err != nil {
				return err
			}
			in.Witness = append(in.Witness, signature)
		}
		in.Witness = append(in.Witness, script)
	}
	return err
}
