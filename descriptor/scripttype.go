package descriptor

import (
	"github.com/btcsuite/btcd/txscript"
)

// Names that Bitcoin Core gives to the forms of output scripts.
const (
	typeNonStandard     = "nonstandard"
	typeAnchor          = "anchor"
	typePubKey          = "pubkey"
	typePubKeyHash      = "pubkeyhash"
	typeScriptHash      = "scripthash"
	typeMultisig        = "multisig"
	typeNullData        = "nulldata"
	typeWitnessV0Script = "witness_v0_scripthash"
	typeWitnessV0Key    = "witness_v0_keyhash"
	typeWitnessTaproot  = "witness_v1_taproot"
	typeWitnessP2MR     = "witness_v2_p2mr" // where the dialect has it
	typeWitnessUnknown  = "witness_unknown"
)

// maxMultisigKeys is the consensus limit of CHECKMULTISIG.
const maxMultisigKeys = 20

// solved is an output script taken apart.
type solved struct {
	form      string   // one of the names above
	data      [][]byte // hash, witness program or public keys
	version   int      // of a witness program
	threshold int      // of a multisig script
}

// ScriptType names the form of an output script as Bitcoin Core does:
// nonstandard, anchor, pubkey, pubkeyhash, scripthash, multisig, nulldata,
// witness_v0_scripthash, witness_v0_keyhash, witness_v1_taproot or
// witness_unknown.
func ScriptType(script []byte) string {
	return solve(script).form
}

// ScriptType names the form of an output script as [ScriptType] does, and
// witness_v2_p2mr where the network's dialect has it.
func (n *Network) ScriptType(script []byte) string { return n.solve(script).form }

// Template is an output script taken apart.
type Template struct {
	Form string   // see [Network.ScriptType]
	Data [][]byte // the hash, witness program or public keys in it, not copied
}

// Template takes an output script apart.
func (n *Network) Template(script []byte) Template {
	s := n.solve(script)
	return Template{Form: s.form, Data: s.data}
}

// p2mrVersion is the version of witness programs that are P2MR.
const p2mrVersion = 2

// solve takes a script apart as the network's dialect sees it.
func (n *Network) solve(script []byte) solved {
	s := solve(script)
	if n == nil || n.Dialect != P2MR {
		return s
	}
	if s.form == typeWitnessUnknown && s.version == p2mrVersion && len(s.data[0]) == p2mrKeyLen {
		s.form = typeWitnessP2MR
	}
	return s
}

func solve(script []byte) solved {
	if hash, ok := scriptHashOf(script); ok {
		return solved{form: typeScriptHash, data: [][]byte{hash}}
	}
	if version, program, ok := witnessProgramOf(script); ok {
		return solveWitness(version, program)
	}
	if len(script) > 0 && script[0] == txscript.OP_RETURN && pushOnly(script[1:]) {
		return solved{form: typeNullData}
	}
	if key, ok := pubKeyOf(script); ok {
		return solved{form: typePubKey, data: [][]byte{key}}
	}
	if hash, ok := pubKeyHashOf(script); ok {
		return solved{form: typePubKeyHash, data: [][]byte{hash}}
	}
	if threshold, keys, ok := multisigOf(script); ok {
		return solved{form: typeMultisig, data: keys, threshold: threshold}
	}
	return solved{form: typeNonStandard}
}

func solveWitness(version int, program []byte) solved {
	s := solved{form: typeWitnessUnknown, version: version, data: [][]byte{program}}
	switch {
	case version == 0 && len(program) == 20:
		s.form = typeWitnessV0Key
	case version == 0 && len(program) == 32:
		s.form = typeWitnessV0Script
	case version == 0:
		s.form = typeNonStandard
	case version == 1 && len(program) == 32:
		s.form = typeWitnessTaproot
	case version == 1 && string(program) == "\x4e\x73":
		s.form = typeAnchor
	}
	return s
}

func scriptHashOf(script []byte) ([]byte, bool) {
	if len(script) != 23 || script[0] != txscript.OP_HASH160 || script[1] != 20 || script[22] != txscript.OP_EQUAL {
		return nil, false
	}
	return script[2:22], true
}

func pubKeyHashOf(script []byte) ([]byte, bool) {
	if len(script) != 25 || script[0] != txscript.OP_DUP || script[1] != txscript.OP_HASH160 || script[2] != 20 ||
		script[23] != txscript.OP_EQUALVERIFY || script[24] != txscript.OP_CHECKSIG {
		return nil, false
	}
	return script[3:23], true
}

func pubKeyOf(script []byte) ([]byte, bool) {
	n := len(script)
	if n != 35 && n != 67 || int(script[0]) != n-2 || script[n-1] != txscript.OP_CHECKSIG {
		return nil, false
	}
	key := script[1 : n-1]
	return key, validKeySize(key)
}

// validKeySize reports whether the length of a public key is the one its
// first byte announces.
func validKeySize(key []byte) bool {
	if len(key) == 0 {
		return false
	}
	switch key[0] {
	case 2, 3:
		return len(key) == 33
	case 4, 6, 7:
		return len(key) == 65
	}
	return false
}

func witnessProgramOf(script []byte) (version int, program []byte, ok bool) {
	if len(script) < 4 || len(script) > 42 || int(script[1])+2 != len(script) {
		return 0, nil, false
	}
	if version, ok = smallInt(script[0]); !ok {
		return 0, nil, false
	}
	return version, script[2:], true
}

// smallInt returns the number that OP_0 or OP_1 to OP_16 pushes.
func smallInt(op byte) (int, bool) {
	if op == txscript.OP_0 {
		return 0, true
	}
	if op < txscript.OP_1 || op > txscript.OP_16 {
		return 0, false
	}
	return int(op-txscript.OP_1) + 1, true
}

func pushOnly(script []byte) bool {
	tokens := txscript.MakeScriptTokenizer(0, script)
	for tokens.Next() {
		if tokens.Opcode() > txscript.OP_16 {
			return false
		}
	}
	return tokens.Err() == nil
}

// multisigOf takes apart a bare multisig script. The keys need only have the
// right size; they may be pushed in any way.
func multisigOf(script []byte) (threshold int, keys [][]byte, ok bool) {
	if len(script) == 0 || script[len(script)-1] != txscript.OP_CHECKMULTISIG {
		return 0, nil, false
	}
	tokens := txscript.MakeScriptTokenizer(0, script)
	if !tokens.Next() {
		return 0, nil, false
	}
	if threshold, ok = countOf(&tokens, 1); !ok {
		return 0, nil, false
	}
	for tokens.Next() && validKeySize(tokens.Data()) {
		keys = append(keys, tokens.Data())
	}
	if tokens.Err() != nil || tokens.Done() {
		return 0, nil, false
	}
	n, ok := countOf(&tokens, threshold)
	if !ok || n != len(keys) || int(tokens.ByteIndex()) != len(script)-1 {
		return 0, nil, false
	}
	return threshold, keys, true
}

// countOf reads the token as a number of keys, least to 20, in minimal form.
func countOf(token *txscript.ScriptTokenizer, least int) (int, bool) {
	n, ok := smallInt(token.Opcode())
	if data := token.Data(); !ok && token.Opcode() == txscript.OP_DATA_1 {
		// Numbers up to 16 have opcodes of their own.
		n, ok = int(data[0]), data[0] > 16
	}
	return n, ok && n >= least && n <= maxMultisigKeys
}
