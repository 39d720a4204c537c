package match

import (
	"crypto/sha256"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
)

// This file classifies inputs: it tells from the inputs of a block alone what they may
// spend. A block that was deleted and fetched again needs that, as its spent outputs are gone.
//
// An output that names the hash of a key or script can only be spent by showing
// the hashed bytes. A spend of a taproot output by a script path shows the parts
// of the output's key. Other inputs do not show the spent script: spends of
// taproot outputs by their key, and of scripts that name no hash.
//
// Source: BIP16, BIP141, BIP341.

// A SpendClass says how a script shows itself when it is spent.
type SpendClass int

// The classes of scripts.
const (
	ByHash  SpendClass = iota // P2PKH, P2SH, P2WPKH, P2WSH: always
	Taproot                   // by a script path only
	Bare                      // never
)

// SpendClassOf returns the class of an output script.
func SpendClassOf(script []byte) SpendClass {
	switch txscript.GetScriptClass(script) {
	case txscript.PubKeyHashTy, txscript.ScriptHashTy, txscript.WitnessV0PubKeyHashTy, txscript.WitnessV0ScriptHashTy:
		return ByHash
	case txscript.WitnessV1TaprootTy:
		return Taproot
	case txscript.NonStandardTy, txscript.PubKeyTy, txscript.MultiSigTy, txscript.NullDataTy, txscript.WitnessUnknownTy:
	}
	return Bare
}

// Evidence is what the inputs of a block show.
type Evidence struct {
	Scripts [][]byte // that may be spent: all those that show themselves are in it
	Taproot bool     // an input may spend a taproot output by its key
	Bare    bool     // an input may spend a bare script
}

// Hides reports whether the block may spend a script of the class without showing
// it.
func (e *Evidence) Hides(c SpendClass) bool { return c == Taproot && e.Taproot || c == Bare && e.Bare }

// EvidenceOf returns what the inputs of a block show. It leaves the coinbase out.
func EvidenceOf(block *wire.MsgBlock) Evidence {
	var e Evidence
	for _, tx := range block.Transactions[min(1, len(block.Transactions)):] {
		for _, in := range tx.TxIn {
			e.add(in)
		}
	}
	return e
}

func (e *Evidence) add(in *wire.TxIn) {
	if len(in.SignatureScript) == 0 {
		e.addWitness(in.Witness)
		return
	}
	last, pushes := lastPush(in.SignatureScript)
	if !pushes { // before BIP16 it was allowed to compute what was hashed
		e.Bare = true
	}
	hash := btcutil.Hash160(last)
	e.Scripts = append(e.Scripts, pubKeyHash(hash), scriptHash(hash))
	if len(in.Witness) == 0 {
		e.Bare = true
	}
}

// addWitness looks at an input without signature script. One without witness
// spends a script that anyone can spend.
func (e *Evidence) addWitness(stack wire.TxWitness) {
	if len(stack) == 0 {
		e.Bare = true
		return
	}
	e.Bare = true // versions of witness programs to come take any stack
	last := stack[len(stack)-1]
	sum := sha256.Sum256(last)
	e.Scripts = append(e.Scripts, program(txscript.OP_0, btcutil.Hash160(last)), program(txscript.OP_0, sum[:]))
	if len(stack) > 1 && len(last) > 0 && last[0] == txscript.TaprootAnnexTag {
		stack = stack[:len(stack)-1]
	}
	if len(stack) == 1 {
		e.Taproot = true
		return
	}
	control, err := txscript.ParseControlBlock(stack[len(stack)-1])
	if err != nil {
		return
	}
	root := control.RootHash(stack[len(stack)-2])
	key := txscript.ComputeTaprootOutputKey(control.InternalKey, root)
	e.Scripts = append(e.Scripts, program(txscript.OP_1, key.SerializeCompressed()[1:]))
}

// lastPush returns what a script pushes last, and whether it only pushes.
func lastPush(script []byte) (last []byte, pushes bool) {
	t := txscript.MakeScriptTokenizer(0, script)
	pushes = true
	for t.Next() {
		if t.Opcode() > txscript.OP_16 {
			pushes = false
		}
		last = t.Data()
	}
	return last, pushes && t.Err() == nil
}

func pubKeyHash(hash []byte) []byte {
	script := append([]byte{txscript.OP_DUP, txscript.OP_HASH160, byte(len(hash))}, hash...)
	return append(script, txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG)
}

func scriptHash(hash []byte) []byte {
	return append(append([]byte{txscript.OP_HASH160, byte(len(hash))}, hash...), txscript.OP_EQUAL)
}

func program(version byte, bytes []byte) []byte {
	return append([]byte{version, byte(len(bytes))}, bytes...)
}
