package descriptor

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/txscript"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"golang.org/x/crypto/ripemd160" //nolint:staticcheck // what scripts use

	"github.com/seed61375155/trawl/descriptor/internal/miniscript"
	"github.com/seed61375155/trawl/internal/curve"
)

// Infer describes an output script by a descriptor with checksum, as Bitcoin
// Core does when it knows no keys. It uses pk() and multi() for scripts that
// hold their keys, rawtr() for taproot, rawmr() for P2MR, addr() for other
// scripts with an address, and raw() for the rest. Keys of pk() and multi()
// need not lie on the curve, so not every result parses.
func Infer(script []byte, net *Network) string { return new(known).describe(script, net.orMain()) }

// InferWitness describes the output script of version 0 that pays to the hash of a
// witness script. The result is wsh() if the witness script holds its keys or is a
// miniscript, else addr().
func InferWitness(witnessScript []byte, net *Network) string {
	k := new(known)
	k.addScript(witnessScript)
	hash := sha256.Sum256(witnessScript)
	return k.describe(witnessProgram(0, hash[:]), net.orMain())
}

// known is what is known of the keys and the scripts behind an output.
type known struct {
	origins map[string]keyOrigin // by the public key
	public  map[string][]byte    // keys by their hashes
	scripts map[string][]byte    // by HASH160
	trees   map[string]*knownTree
}

// knownTree is what an output key of taproot commits to.
type knownTree struct {
	internal []byte // 33 bytes
	tree     *scriptTree
}

// scriptTree is a leaf script or a pair of subtrees; nil is an empty tree.
type scriptTree struct {
	leaf        []byte
	left, right *scriptTree
}

// describe infers a descriptor with checksum. A script that the known parts do
// not explain is described by its address, or else as raw bytes.
func (k *known) describe(script []byte, net *Network) string {
	body, ok := k.infer(script, inTop, net)
	if !ok {
		if address, has := AddressOf(script, net); has {
			body = "addr(" + address + ")"
		} else {
			body = "raw(" + hex.EncodeToString(script) + ")"
		}
	}
	return AddChecksum(body)
}

// infer describes a script by the keys and scripts that are known. The order of
// its attempts, and the scopes of each, are Core's (InferScript).
func (k *known) infer(script []byte, at scope, net *Network) (body string, ok bool) {
	if at == inTr {
		return k.inferLeaf(script)
	}
	s := net.solve(script)
	return k.inferSolved(&s, script, at, net)
}

func (k *known) inferSolved(s *solved, script []byte, at scope, net *Network) (body string, ok bool) {
	switch {
	case s.form == typePubKey:
		body, ok = k.inferKey("pk", s.data[0], at)
	case s.form == typePubKeyHash:
		body, ok = k.inferKey("pkh", k.public[string(s.data[0])], at)
	case s.form == typeWitnessV0Key && at != inWsh:
		body, ok = k.inferKey("wpkh", k.public[string(s.data[0])], inWpkh)
	case s.form == typeMultisig:
		body, ok = k.inferMulti(
			"multi", s.threshold, s.data, func(key []byte) (string, bool) { return k.keyText(key, at) },
		)
	case s.form == typeScriptHash && at == inTop:
		body, ok = k.inferInner("sh", k.scripts[string(s.data[0])], inSh, net)
	case s.form == typeWitnessV0Script && at != inWsh:
		hash := ripemd160.New()
		hash.Write(s.data[0])
		body, ok = k.inferInner("wsh", k.scripts[string(hash.Sum(nil))], inWsh, net)
	case s.form == typeWitnessTaproot && at == inTop:
		body, ok = k.inferTaproot(s.data[0], net)
	case s.form == typeWitnessP2MR && at == inTop:
		body, ok = "rawmr("+hex.EncodeToString(s.data[0])+")", true
	}
	if !ok && at == inWsh {
		return k.inferMiniscript(script, miniscript.P2WSH)
	}
	return body, ok
}

// inferInner describes the script behind a hash.
func (k *known) inferInner(name string, script []byte, at scope, net *Network) (string, bool) {
	if script == nil {
		return "", false
	}
	inner, ok := k.infer(script, at, net)
	return name + "(" + inner + ")", ok
}

func (k *known) inferKey(name string, key []byte, at scope) (string, bool) {
	text, ok := k.keyText(key, at)
	return name + "(" + text + ")", ok
}

func (*known) inferMulti(name string, threshold int, keys [][]byte, print func([]byte) (string, bool)) (string, bool) {
	var body strings.Builder
	body.WriteString(name + "(" + strconv.Itoa(threshold))
	for _, key := range keys {
		text, ok := print(key)
		if !ok {
			return "", false
		}
		body.WriteString("," + text)
	}
	body.WriteString(")")
	return body.String(), true
}

// inferLeaf describes a tapscript.
func (k *known) inferLeaf(script []byte) (string, bool) {
	if len(script) == 34 && script[0] == txscript.OP_DATA_32 && script[33] == txscript.OP_CHECKSIG {
		return "pk(" + k.xOnlyText(script[1:33]) + ")", true
	}
	if threshold, keys, ok := multiAOf(script); ok {
		return k.inferMulti(
			"multi_a", threshold, keys, func(key []byte) (string, bool) { return k.xOnlyText(key), true },
		)
	}
	return k.inferMiniscript(script, miniscript.Tapscript)
}

// inferTaproot describes an output key: by its tree, if it is known and all of it
// can be described.
func (k *known) inferTaproot(output []byte, net *Network) (string, bool) {
	if tree := k.trees[string(output)]; tree != nil {
		body := "tr(" + k.xOnlyText(tree.internal[1:])
		if tree.tree == nil {
			return body + ")", true
		}
		if leaves, ok := k.inferTree(tree.tree, net); ok {
			return body + "," + leaves + ")", true
		}
	}
	return "rawtr(" + k.xOnlyText(output) + ")", onCurve(output)
}

func (k *known) inferTree(t *scriptTree, net *Network) (string, bool) {
	if t.left == nil {
		return k.infer(t.leaf, inTr, net)
	}
	left, ok := k.inferTree(t.left, net)
	if !ok {
		return "", false
	}
	right, ok := k.inferTree(t.right, net)
	return "{" + left + "," + right + "}", ok
}

// inferMiniscript describes a script that is a sane miniscript.
func (k *known) inferMiniscript(script []byte, ctx miniscript.Context) (string, bool) {
	keys := &knownKeys{known: k, tapscript: ctx == miniscript.Tapscript}
	e, ok := miniscript.Decode(script, ctx, keys)
	if !ok || !e.Sane() {
		return "", false
	}
	return string(e.AppendText(nil, func(dst []byte, i int) []byte { return append(dst, keys.texts[i]...) })), true
}

// knownKeys are the keys of a miniscript, by their numbers.
type knownKeys struct {
	*known

	tapscript bool
	texts     []string
	public    [][]byte
}

// KnowKey implements [miniscript.ScriptKeys]. In a tapscript a key that is behind a
// hash is shown with the sign that it has elsewhere, as in Core.
func (k *knownKeys) KnowKey(push []byte, hashed bool) bool {
	var text string
	var ok bool
	at := inWsh
	if k.tapscript {
		at = inTr
	}
	switch {
	case hashed:
		push = k.known.public[string(push)]
		text, ok = k.keyText(push, at)
	case k.tapscript:
		text, ok = k.xOnlyText(push), len(push) == 32
		push = append([]byte{secp256k1.PubKeyFormatCompressedEven}, push...)
	default:
		text, ok = k.keyText(push, at)
	}
	if ok {
		k.texts, k.public = append(k.texts, text), append(k.public, push)
	}
	return ok
}

// Identity implements [miniscript.ScriptKeys].
func (k *knownKeys) Identity(i int) string { return string(k.public[i]) }

// keyText is a key with its origin. Hybrid keys have none, nor do uncompressed ones
// within segwit.
func (k *known) keyText(key []byte, at scope) (string, bool) {
	if !validKeySize(key) || key[0] > 4 || key[0] == 4 && at != inTop && at != inSh {
		return "", false
	}
	return k.originText(key) + hex.EncodeToString(key), true
}

// xOnlyText is the x coordinate of a key with the origin of either key that has it.
func (k *known) xOnlyText(x []byte) string {
	for _, sign := range []byte{secp256k1.PubKeyFormatCompressedEven, secp256k1.PubKeyFormatCompressedOdd} {
		if text := k.originText(append([]byte{sign}, x...)); text != "" {
			return text + hex.EncodeToString(x)
		}
	}
	return hex.EncodeToString(x)
}

func (k *known) originText(key []byte) string {
	origin, ok := k.origins[string(key)]
	if !ok {
		return ""
	}
	text := append([]byte{'['}, hex.EncodeToString(origin.fingerprint[:])...)
	return string(append(appendPath(text, origin.steps, 'h'), ']'))
}

// multiAOf takes apart a tapscript of multi_a().
func multiAOf(script []byte) (threshold int, keys [][]byte, ok bool) {
	const pushed = 1 + 32 + 1 // a key and the opcode after it
	check := byte(txscript.OP_CHECKSIG)
	for ; len(script) > pushed && script[0] == txscript.OP_DATA_32 &&
		script[pushed-1] == check; check = txscript.OP_CHECKSIGADD {
		keys = append(keys, script[1:pushed-1])
		script = script[pushed:]
	}
	tokens := txscript.MakeScriptTokenizer(0, script)
	if len(keys) == 0 || len(keys) > maxMultiAKeys || !tokens.Next() {
		return 0, nil, false
	}
	threshold, ok = smallInt(tokens.Opcode())
	if data := tokens.Data(); !ok && len(data) > 0 {
		n, err := txscript.MakeScriptNum(data, true, 4)
		threshold, ok = int(n), err == nil && n > 16 && int(tokens.ByteIndex()) == 1+len(data)
	}
	if !ok || threshold < 1 || threshold > len(keys) || !tokens.Next() || tokens.Opcode() != txscript.OP_NUMEQUAL {
		return 0, nil, false
	}
	return threshold, keys, tokens.Done() && tokens.Err() == nil
}

// onCurve reports whether 32 bytes are the x coordinate of a point.
func onCurve(xOnly []byte) bool {
	return new(curve.Point).SetX((*[32]byte)(xOnly))
}
