package spends_test

import (
	"crypto/sha256"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus/script"
)

// A coin is an output with all that is needed to spend it.
type coin struct {
	kind    string
	at      wire.OutPoint
	out     *wire.TxOut
	context context
	program program

	pushed  []byte // the last push of the input's script: what the output has the hash of
	inside  bool   // the script is the last item of the witness
	control []byte // behind it, for a leaf
	leafVer byte
	signer  *btcec.PrivateKey // of the key path
}

// kinds make outputs of every type.
var kinds = []struct {
	name string
	make func(g *generator, c *coin)
}{
	{"p2pk", func(g *generator, c *coin) {
		c.program = program{}
		g.finishSig(&c.program, legacy)
		c.out.PkScript = c.program.script
	}},
	{"p2pkh", func(g *generator, c *coin) {
		k := g.key(legacy)
		c.program = keyHashProgram(k)
		c.out.PkScript = c.program.script
	}},
	{"bare multisig", func(g *generator, c *coin) {
		c.program = program{}
		g.finishMulti(&c.program)
		c.out.PkScript = c.program.script
	}},
	{"bare", func(g *generator, c *coin) {
		c.program = g.program(legacy)
		c.out.PkScript = c.program.script
	}},
	{"p2sh", func(g *generator, c *coin) {
		c.program = g.program(legacy)
		c.pushed = c.program.script
		c.out.PkScript = scriptHash(c.pushed)
	}},
	{"p2wpkh", func(g *generator, c *coin) { c.keyHash(g) }},
	{"p2sh-p2wpkh", func(g *generator, c *coin) {
		c.keyHash(g)
		c.nest()
	}},
	{"p2wsh", func(g *generator, c *coin) { c.witnessScript(g) }},
	{"p2sh-p2wsh", func(g *generator, c *coin) {
		c.witnessScript(g)
		c.nest()
	}},
	{"p2tr key", func(g *generator, c *coin) {
		c.context = keyPath
		c.signer = g.keys[g.IntN(len(g.keys))]
		if g.IntN(2) == 0 {
			c.signer = txscript.TweakTaprootPrivKey(*c.signer, nil)
		}
		c.program.stack = []slot{{key: &key{private: c.signer}}}
		c.out.PkScript = append([]byte{txscript.OP_1, 32}, schnorr.SerializePubKey(c.signer.PubKey())...)
	}},
	{"p2tr leaf", func(g *generator, c *coin) { c.leaf(g, 0xc0) }},
	{"p2tr unknown leaf", func(g *generator, c *coin) { c.leaf(g, byte(g.IntN(128)*2)) }},
	{"unknown witness version", func(g *generator, c *coin) {
		c.unknownProgram(g)
	}},
	{"nested unknown witness version", func(g *generator, c *coin) {
		c.unknownProgram(g)
		if g.IntN(3) == 0 {
			c.out.PkScript = append([]byte{txscript.OP_1, 32}, g.bytes(32)...)
		}
		c.nest()
	}},
	{"p2a", func(_ *generator, c *coin) {
		c.context = keyPath
		c.out.PkScript = []byte{txscript.OP_1, 2, 0x4e, 0x73}
	}},
}

// coin makes an output of a type.
func (g *generator) coin(kind int) *coin {
	c := &coin{kind: kinds[kind].name, out: &wire.TxOut{Value: coinValue}}
	for c.out.PkScript == nil || len(c.out.PkScript) > 9000 || c.out.PkScript[0] == txscript.OP_RETURN {
		kinds[kind].make(g, c)
	}
	return c
}

func scriptHash(script []byte) []byte {
	return append(append([]byte{txscript.OP_HASH160, 20}, btcutil.Hash160(script)...), txscript.OP_EQUAL)
}

func keyHashProgram(k *key) program {
	code := append([]byte{txscript.OP_DUP, txscript.OP_HASH160, 20}, btcutil.Hash160(k.public)...)
	code = append(code, txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG)
	return program{code, []slot{{key: k}, {data: k.public}}}
}

// nest pays to the hash of the output's script instead.
func (c *coin) nest() {
	c.pushed = c.out.PkScript
	c.out.PkScript = scriptHash(c.pushed)
}

func (c *coin) keyHash(g *generator) {
	c.context = segwit
	k := g.key(legacy)
	c.program = keyHashProgram(k)
	c.out.PkScript = append([]byte{0, 20}, btcutil.Hash160(k.public)...)
}

func (c *coin) witnessScript(g *generator) {
	c.context, c.inside = segwit, true
	c.program = g.program(segwit)
	hash := sha256.Sum256(c.program.script)
	c.out.PkScript = append([]byte{0, 32}, hash[:]...)
}

func (c *coin) unknownProgram(g *generator) {
	c.context = keyPath
	version, size := byte(1+g.IntN(16)), 2+g.IntN(39)
	if version == 1 && size == 32 {
		size++
	}
	c.out.PkScript = append([]byte{txscript.OP_1 - 1 + version, byte(size)}, g.bytes(size)...)
	if g.IntN(12) == 0 {
		c.out.PkScript[0] = 0 // of version 0, of a wrong length
	}
}

// leaf pays to a tree with a script at some depth.
func (c *coin) leaf(g *generator, leafVersion byte) {
	c.context, c.inside, c.leafVer = tapscript, true, leafVersion
	if c.program = g.program(tapscript); g.IntN(5) == 0 {
		c.program = program{}
		g.finishUnknownKey(&c.program)
	}
	internal := g.keys[g.IntN(len(g.keys))].PubKey()
	root := script.LeafHash(leafVersion, c.program.script)
	var path []byte
	for range pick(g, 0, 0, 1, 2, 3, 127, 128) {
		node := g.bytes(32)
		path = append(path, node...)
		low, high := root[:], node
		if string(low) > string(high) {
			low, high = high, low
		}
		root = tagged("TapBranch", low, high)
	}
	output := txscript.ComputeTaprootOutputKey(internal, root[:])
	parity := output.SerializeCompressed()[0] & 1
	c.control = append(append([]byte{leafVersion | parity}, schnorr.SerializePubKey(internal)...), path...)
	c.out.PkScript = append([]byte{txscript.OP_1, 32}, schnorr.SerializePubKey(output)...)
}

func tagged(tag string, parts ...[]byte) [32]byte {
	prefix := sha256.Sum256([]byte(tag))
	h := sha256.New()
	h.Write(prefix[:])
	h.Write(prefix[:])
	for _, part := range parts {
		h.Write(part)
	}
	return [32]byte(h.Sum(nil))
}
