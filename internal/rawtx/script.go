package rawtx

import (
	"crypto/sha256"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/descriptor"
)

// form is what an output script is, as far as signing it goes.
type form uint8

const (
	other form = iota // nothing signs it
	payToPubKey
	payToPubKeyHash
	payToScriptHash
	bareMultisig
	payToWitnessKeyHash
	payToWitnessScriptHash
	payToTaproot
	payToAnchor
	unknownWitness
)

// forms are the forms by Core's names. All others are other.
var forms = map[string]form{
	"pubkey":                payToPubKey,
	"pubkeyhash":            payToPubKeyHash,
	"scripthash":            payToScriptHash,
	"multisig":              bareMultisig,
	"witness_v0_keyhash":    payToWitnessKeyHash,
	"witness_v0_scripthash": payToWitnessScriptHash,
	"witness_v1_taproot":    payToTaproot,
	"anchor":                payToAnchor,
	"witness_unknown":       unknownWitness,
}

// formOf returns the form of a script and the bytes in it that matter: its key
// or hash, which the form has at a fixed place.
func formOf(script []byte) (form, []byte) {
	f := forms[descriptor.ScriptType(script)]
	switch f {
	case payToPubKey:
		return f, script[1 : len(script)-1]
	case payToPubKeyHash:
		return f, script[3:23]
	case payToScriptHash:
		return f, script[2:22]
	case payToWitnessKeyHash, payToWitnessScriptHash, payToTaproot:
		return f, script[2:]
	default:
		return f, nil
	}
}

// MultisigKeys returns the public keys of a script of Core's type multisig, and
// how many of them must sign.
func MultisigKeys(script []byte) (required int, keys [][]byte) {
	tokens := txscript.MakeScriptTokenizer(0, script)
	if !tokens.Next() {
		return 0, nil
	}
	if data := tokens.Data(); len(data) == 1 { // more than 16
		required = int(data[0])
	} else {
		required = txscript.AsSmallInt(tokens.Opcode())
	}
	for tokens.Next() && len(tokens.Data()) > 1 {
		keys = append(keys, tokens.Data())
	}
	return required, keys
}

// ScriptHash returns the output script that pays to a script by its hash
// (BIP16).
func ScriptHash(script []byte) []byte {
	paying := append([]byte{txscript.OP_HASH160, 20}, btcutil.Hash160(script)...)
	return append(paying, txscript.OP_EQUAL)
}

// WitnessScriptHash returns the output script that pays to a script by its
// hash, and takes its witness (BIP141).
func WitnessScriptHash(script []byte) []byte {
	hash := sha256.Sum256(script)
	return append([]byte{txscript.OP_0, 32}, hash[:]...)
}

// WitnessKeyHash returns the output script that pays to the hash of a public
// key, and takes its witness (BIP141).
func WitnessKeyHash(hash []byte) []byte {
	return append([]byte{txscript.OP_0, 20}, hash...)
}

// pubKeyHashScript is what stands behind an output that pays to the witness of
// a key's hash.
func pubKeyHashScript(hash []byte) []byte {
	script := append([]byte{txscript.OP_DUP, txscript.OP_HASH160, 20}, hash...)
	return append(script, txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG)
}

// pushAll returns the script that leaves a stack, each item pushed in its
// shortest form.
func pushAll(stack [][]byte) []byte {
	var script []byte
	for _, item := range stack {
		script = appendPush(script, item)
	}
	return script
}

func appendPush(script, data []byte) []byte {
	n := len(data)
	switch {
	case n == 0:
		return append(script, txscript.OP_0)
	case n == 1 && data[0] >= 1 && data[0] <= 16:
		return append(script, txscript.OP_1+data[0]-1)
	case n == 1 && data[0] == 0x81:
		return append(script, txscript.OP_1NEGATE)
	case n < txscript.OP_PUSHDATA1:
		script = append(script, byte(n))
	case n <= 0xff:
		script = append(script, txscript.OP_PUSHDATA1, byte(n))
	case n <= 0xffff:
		script = append(script, txscript.OP_PUSHDATA2, byte(n), byte(n>>8))
	default:
		script = append(script, txscript.OP_PUSHDATA4, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	return append(script, data...)
}

// A HashKind says how an output pays to the hash of a script.
type HashKind uint8

// The kinds of outputs that pay to the hash of a script.
const (
	NoHash      HashKind = iota // it does not
	LegacyHash                  // BIP16
	WitnessHash                 // BIP141
)

// HashKindOf returns the kind of an output script.
func HashKindOf(script []byte) HashKind {
	switch f, _ := formOf(script); f {
	case payToScriptHash:
		return LegacyHash
	case payToWitnessScriptHash:
		return WitnessHash
	default:
		return NoHash
	}
}
