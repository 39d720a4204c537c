package miniscript

import (
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
)

// Template is the script of an expression with gaps for its keys.
type Template struct {
	script []byte
	gaps   []gap
}

// gap is the place of a key or, where hashed, of its hash.
type gap struct {
	at, key int
	hashed  bool
}

// Compile turns an expression that passes [Expression.Check] into a script.
func (e *Expression) Compile() *Template {
	c := compiler{ctx: e.ctx, script: make([]byte, 0, e.root.size)}
	c.open(e.root, false)
	for len(c.pending) > 0 {
		top := &c.pending[len(c.pending)-1]
		if len(top.rest) == 0 {
			c.pending = c.pending[:len(c.pending)-1]
			continue
		}
		p := top.rest[0]
		top.rest = top.rest[1:]
		c.write(top.node, p, len(top.rest) == 0 && top.verify)
	}
	return &Template{script: c.script, gaps: c.gaps}
}

// Script fills in the keys, which it asks for by number. They must have the
// length of their context: 33 bytes, or 32 in tapscript.
func (t *Template) Script(keyOf func(key int) []byte) []byte {
	script := slices.Clone(t.script)
	for _, g := range t.gaps {
		key := keyOf(g.key)
		if g.hashed {
			key = btcutil.Hash160(key)
		}
		copy(script[g.at:], key)
	}
	return script
}

// compiler writes a script. Expressions that are begun lie on a stack.
type compiler struct {
	ctx     Context
	script  []byte
	gaps    []gap
	pending []openNode
}

// openNode is an expression with the part of its layout still to be written.
type openNode struct {
	node   *node
	rest   []piece
	verify bool // its last opcode has to verify
}

func (c *compiler) open(n *node, verify bool) {
	// Where v: adds no opcode, its expression verifies by itself.
	verify = verify || n.fragment == wrapV
	c.pending = append(c.pending, openNode{n, n.layout(), verify})
}

// write writes a piece of the script of n. verify says that it is the last one
// and has to verify.
func (c *compiler) write(n *node, p piece, verify bool) {
	switch p.kind {
	case opcodePiece:
		c.script = append(c.script, verifying(byte(p.arg), verify))
	case subPiece:
		c.open(n.subs[p.arg], verify)
	case keyPiece:
		c.leave(gap{key: n.keys[p.arg]}, c.ctx.keySize())
	case keyHashPiece:
		c.leave(gap{key: n.keys[p.arg], hashed: true}, 20)
	case numberPiece:
		c.script = appendNumber(c.script, p.arg)
	case ownPiece:
		c.script = appendNumber(c.script, int(n.number))
	case digestPiece:
		c.script = append(append(c.script, byte(len(n.digest))), n.digest...)
	}
}

// leave leaves a gap of the given size, with its push in front.
func (c *compiler) leave(g gap, size int) {
	c.script = append(c.script, byte(size))
	g.at = len(c.script)
	c.gaps = append(c.gaps, g)
	c.script = append(c.script, make([]byte, size)...)
}

// verifying returns the form of an opcode that verifies its result.
func verifying(opcode byte, verify bool) byte {
	if !verify {
		return opcode
	}
	switch opcode {
	case txscript.OP_EQUAL:
		return txscript.OP_EQUALVERIFY
	case txscript.OP_NUMEQUAL:
		return txscript.OP_NUMEQUALVERIFY
	case txscript.OP_CHECKSIG:
		return txscript.OP_CHECKSIGVERIFY
	case txscript.OP_CHECKMULTISIG:
		return txscript.OP_CHECKMULTISIGVERIFY
	default:
		return opcode
	}
}
