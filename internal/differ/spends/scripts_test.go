package spends_test

import (
	"crypto/sha256"
	"math/rand/v2"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/txscript"
)

// context is where a script is executed.
type context uint8

const (
	legacy context = iota
	segwit
	tapscript
	keyPath // no script
)

// neutral are pieces of scripts that succeed and leave the stack as it was.
var neutral = strings.Split(`NOP|1 DROP|1 VERIFY|1 IF 1 ELSE 0 ENDIF VERIFY|0 NOTIF 1 ENDIF VERIFY|0 IF RETURN ENDIF|`+
	`1 TOALTSTACK FROMALTSTACK DROP|1 2 2DROP|1 2 2DUP 2DROP 2DROP|1 2 3 3DUP 2DROP 2DROP 2DROP|`+
	`1 2 3 4 2OVER 2DROP 2DROP 2DROP|1 2 3 4 5 6 2ROT 2DROP 2DROP 2DROP|1 2 3 4 2SWAP 2DROP 2DROP|1 IFDUP 2DROP|`+
	`0 IFDUP DROP|DEPTH DROP|1 DUP 2DROP|1 2 NIP DROP|1 2 OVER 2DROP DROP|1 2 1 PICK 2DROP DROP|1 2 1 ROLL 2DROP|`+
	`1 2 3 ROT 2DROP DROP|1 2 SWAP 2DROP|1 2 TUCK 2DROP DROP|1 SIZE 2DROP|7 7 EQUAL VERIFY|7 7 EQUALVERIFY|`+
	`8 1ADD 9 EQUALVERIFY|9 1SUB 8 EQUALVERIFY|1 NEGATE -1 EQUALVERIFY|-1 ABS VERIFY|0 NOT VERIFY|5 0NOTEQUAL VERIFY|`+
	`10 2 ADD 12 NUMEQUALVERIFY|13 2 SUB 11 EQUALVERIFY|1 1 BOOLAND VERIFY|0 1 BOOLOR VERIFY|14 14 NUMEQUAL VERIFY|`+
	`15 15 NUMEQUALVERIFY|1 2 NUMNOTEQUAL VERIFY|1 2 LESSTHAN VERIFY|2 1 GREATERTHAN VERIFY|1 1 LESSTHANOREQUAL VERIFY|`+
	`16 1 GREATERTHANOREQUAL VERIFY|1 2 MIN VERIFY|1 2 MAX 2 EQUALVERIFY|1 0 2 WITHIN VERIFY|1 RIPEMD160 DROP|1 SHA1 DROP|`+
	`1 SHA256 DROP|1 HASH160 DROP|1 HASH256 DROP|CODESEPARATOR|0 CHECKLOCKTIMEVERIFY DROP|0 CHECKSEQUENCEVERIFY DROP|`+
	`NOP1|NOP4|NOP5|NOP6|NOP7|NOP8|NOP9|NOP10|0 0 0 CHECKMULTISIGVERIFY|0 0 0 CHECKMULTISIG VERIFY|2147483647 1ADD DROP|`+
	`0 IF 0x50 ENDIF|0 IF 0x62 ENDIF|0 IF 0x89 ENDIF|0 IF 0x8a ENDIF|0 IF 0xbb ENDIF|0 IF 0xff ENDIF|1 NOTIF 0xba ENDIF|`+
	`1000 DROP|0x4c0101 DROP|0x4d010001 DROP|0x4e0100000001 DROP|0x0101 DROP|-1 DROP`, "|")

// failing are pieces that make scripts fail, at least by the rules of relay.
var failing = strings.Split(`0 VERIFY|RETURN|1 2 EQUALVERIFY|1 2 NUMEQUALVERIFY|FROMALTSTACK|1000 PICK|-1 PICK|-1 ROLL|`+
	`IF|1 IF|ELSE|ENDIF|1 IF ELSE|2 IF 1 DROP ENDIF|-1 CHECKLOCKTIMEVERIFY|-1 CHECKSEQUENCEVERIFY|0x050000000001 CHECKLOCKTIMEVERIFY DROP|`+
	`0x06000000000001 CHECKLOCKTIMEVERIFY DROP|0x06000000000001 CHECKSEQUENCEVERIFY DROP|500000000 CHECKLOCKTIMEVERIFY DROP|`+
	`1000000 CHECKLOCKTIMEVERIFY DROP|65535 CHECKSEQUENCEVERIFY DROP|4194305 CHECKSEQUENCEVERIFY `+
	`DROP|0x050000008000 CHECKSEQUENCEVERIFY DROP|`+
	`0x050101010101 1ADD DROP|0x020000 1ADD DROP|21 CHECKMULTISIG|-1 CHECKMULTISIG|0 -1 0 CHECKMULTISIG|0 2 0 `+
	`CHECKMULTISIG|1 0 0 CHECKMULTISIGVERIFY|`+
	`CAT|SUBSTR|LEFT|RIGHT|INVERT|AND|OR|XOR|2MUL|2DIV|MUL|DIV|MOD|LSHIFT|RSHIFT|0 IF CAT ENDIF|RESERVED|VER|VERIF|VERNOTIF|0 IF VERIF ENDIF|`+
	`RESERVED1|RESERVED2|0xba|0xbb|0xbc|0xfe|0xff|0x4c|0x4d01|0x4e010000|0x05|0x4b|DROP DROP DROP DROP DROP|2DROP `+
	`2DROP 2DROP|3DUP|2OVER|2ROT|2SWAP|`+
	`TOALTSTACK|1 TOALTSTACK|1 1|2 0x0101 EQUALVERIFY|1 IF 1 ENDIF ENDIF|DEPTH|2147483648 1ADD DROP|0 CHECKSIG|1 0 `+
	`CHECKSIGVERIFY|CHECKSIGADD|0 0 0 CHECKSIGADD`, "|")

// key is a private key with the forms of its public key.
type key struct {
	private *btcec.PrivateKey
	public  []byte // as scripts have it
}

func (g *generator) key(c context) *key {
	k := &key{private: g.keys[g.IntN(len(g.keys))]}
	public := k.private.PubKey()
	switch n := g.IntN(40); {
	case c >= tapscript:
		k.public = schnorr.SerializePubKey(public)
	case n == 0:
		k.public = public.SerializeUncompressed()
		k.public[0] = 6 | k.public[64]&1 // hybrid
	case n < 4:
		k.public = public.SerializeUncompressed()
	default:
		k.public = public.SerializeCompressed()
	}
	return k
}

// slot is an item that a script wants on the stack: data, or a signature.
type slot struct {
	data []byte
	key  *key // nil: data
	from int  // where in the script the code that is signed begins
	sep  uint32
}

// program is a script with what satisfies it.
type program struct {
	script []byte
	stack  []slot // lowest first
}

type generator struct {
	*rand.Rand

	keys []*btcec.PrivateKey
}

func newGenerator(r *rand.Rand) *generator {
	g := &generator{Rand: r}
	for i := range 16 {
		seed := sha256.Sum256([]byte{byte(i)})
		private, _ := btcec.PrivKeyFromBytes(seed[:])
		g.keys = append(g.keys, private)
	}
	return g
}

func (g *generator) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(g.Uint32())
	}
	return b
}

// pick returns one of several.
func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

// piece returns a piece of a script.
func (g *generator) piece(c context) []byte {
	switch n := g.IntN(100); {
	case n < 70:
		return assemble(pick(g, neutral...))
	case n < 78:
		var pushes []byte
		for range 4 {
			pushes = push(pushes, g.bytes(1+g.IntN(0x4b)))
		}
		return append(pushes, txscript.OP_2DROP, txscript.OP_2DROP)
	case n < 80:
		return append(push(nil, g.bytes(pick(g, 76, 100, 255, 256, 300, 519, 520))), txscript.OP_DROP)
	case n < 82 && c == tapscript:
		return []byte{byte(0xbb + g.IntN(0x44))}
	case n < 94 && c < tapscript:
		passed := []byte{0, txscript.OP_IF, byte(0x50 + g.IntN(0xb0))}
		for range 12 {
			passed = append(passed, pick(g, 0x50, 0x62, 0x89, 0x8a, byte(0xba+g.IntN(0x46)), byte(0xba+g.IntN(0x46))))
		}
		return append(passed, txscript.OP_ENDIF)
	case n < 96:
		disabled := assemble("CAT SUBSTR LEFT RIGHT INVERT AND OR XOR 2MUL 2DIV MUL DIV MOD LSHIFT RSHIFT")
		return []byte{pick(g, byte(0x4f+g.IntN(0xb1)), pick(g, disabled...), pick(g, disabled...))}
	default:
		return assemble(pick(g, neutral...))
	}
}

// program makes a script: pieces, and what it ends with.
func (g *generator) program(c context) program {
	var p program
	if g.IntN(40) == 0 {
		return program{script: g.bytes(1 + g.IntN(60)), stack: []slot{{data: []byte{1}}}}
	}
	for range g.IntN(6) {
		p.script = append(p.script, g.piece(c)...)
	}
	if g.IntN(5) == 0 {
		p.script = append(p.script, assemble(pick(g, failing...))...)
	}
	g.finish(&p, c)
	switch g.IntN(30) {
	case 0:
		p.script = append(p.script, assemble(pick(g, failing...))...)
	case 1:
		p.script[g.IntN(len(p.script))] = byte(g.Uint32())
	case 2:
		p.script = append(p.script, g.extreme(c)...)
	}
	return p
}

// extreme is what breaks a limit.
func (g *generator) extreme(c context) []byte {
	switch g.IntN(5) {
	case 0:
		return []byte(strings.Repeat("\x61", 202))
	case 1:
		return []byte(strings.Repeat("\x51", 1001))
	case 2:
		return append(push(nil, make([]byte, 521)), txscript.OP_DROP)
	case 3:
		if c == segwit {
			return []byte(strings.Repeat("\x51\x75", 5001))
		}
		return []byte(strings.Repeat("\x51\x51\x6d", 160))
	default:
		return []byte(strings.Repeat("\x00\x63", 101))
	}
}

// finish ends a script with something that has to be true.
func (g *generator) finish(p *program, c context) {
	add := func(raw ...byte) { p.script = append(p.script, raw...) }
	switch n := g.IntN(10); {
	case n == 0:
		add(txscript.OP_1)
	case n == 1:
		image := g.bytes(g.IntN(40))
		sum := sha256.Sum256(image)
		add(append(append([]byte{txscript.OP_SHA256}, push(nil, sum[:])...), txscript.OP_EQUAL)...)
		p.stack = []slot{{data: image}}
	case n == 2:
		p.stack = []slot{{data: pick(g, []byte{1}, []byte{}, []byte{2})}}
		add(assemble("IF 1 ELSE 1 ENDIF")...)
	case n == 3 && c == tapscript && g.IntN(2) == 0:
		g.finishUnknownKey(p)
	case n < 6 && c == tapscript:
		g.finishAdd(p)
	case n < 6:
		g.finishMulti(p)
	default:
		g.finishSig(p, c)
	}
}

// separator adds an OP_CODESEPARATOR now and then, and returns where the code that
// is signed begins.
func (g *generator) separator(p *program, c context) (from int, sep uint32) {
	if c != keyPath && g.IntN(8) == 0 {
		p.script = append(p.script, txscript.OP_CODESEPARATOR)
	}
	from, sep = 0, 0xffffffff
	position := uint32(0)
	for tokens := txscript.MakeScriptTokenizer(0, p.script); tokens.Next(); position++ {
		if tokens.Opcode() == txscript.OP_CODESEPARATOR {
			from, sep = int(tokens.ByteIndex()), position
		}
	}
	return from, sep
}

func (g *generator) finishSig(p *program, c context) {
	from, sep := g.separator(p, c)
	k := g.key(c)
	p.script = push(p.script, k.public)
	if g.IntN(4) == 0 {
		p.script = append(p.script, txscript.OP_CHECKSIGVERIFY, txscript.OP_1)
	} else {
		p.script = append(p.script, txscript.OP_CHECKSIG)
	}
	p.stack = []slot{{key: k, from: from, sep: sep}}
}

// finishMulti ends with some keys of which some have to sign.
func (g *generator) finishMulti(p *program) {
	from, sep := g.separator(p, legacy)
	n := 1 + g.IntN(pick(g, 3, 3, 3, 7))
	m := 1 + g.IntN(n)
	keys := make([]*key, n)
	p.script = append(p.script, txscript.OP_1-1+byte(m))
	for i := range keys {
		keys[i] = g.key(legacy)
		p.script = push(p.script, keys[i].public)
	}
	p.script = append(p.script, txscript.OP_1-1+byte(n))
	if g.IntN(4) == 0 {
		p.script = append(p.script, txscript.OP_CHECKMULTISIGVERIFY, txscript.OP_1)
	} else {
		p.script = append(p.script, txscript.OP_CHECKMULTISIG)
	}
	p.stack = []slot{{data: []byte{}}}
	for i, left := range keys {
		if len(p.stack)-1 < m && (g.IntN(2) == 0 || n-i == m-len(p.stack)+1) {
			p.stack = append(p.stack, slot{key: left, from: from, sep: sep})
		}
	}
}

// finishAdd ends with OP_CHECKSIGADDs.
func (g *generator) finishAdd(p *program) {
	_, sep := g.separator(p, tapscript)
	n := 1 + g.IntN(4)
	p.script = append(p.script, 0)
	signed := 0
	p.stack = nil
	for range n {
		k := g.key(tapscript)
		item := slot{key: k, sep: sep}
		if g.IntN(3) == 0 {
			item = slot{data: []byte{}}
		} else {
			signed++
		}
		// The signatures are on the stack: the next to be checked is below the
		// sum.
		p.script = append(push(p.script, k.public), 0xba)
		p.stack = append([]slot{item}, p.stack...)
	}
	p.script = append(append(p.script, pushShort(nil, number(int64(signed)))...), txscript.OP_NUMEQUAL)
}

// finishUnknownKey ends with a key of a type that has no meaning yet, or none.
func (g *generator) finishUnknownKey(p *program) {
	switch g.IntN(4) {
	case 0: // signatures beyond the budget
		p.script = append(p.script, assemble(strings.Repeat("2DUP CHECKSIGVERIFY ", 1+g.IntN(30)))...)
		p.script = append(p.script, txscript.OP_CHECKSIG)
		p.stack = []slot{{data: []byte{1}}, {data: g.bytes(33)}}
		if g.IntN(4) != 0 {
			_, sep := g.separator(&program{script: p.script}, keyPath)
			k := g.key(tapscript)
			p.stack = []slot{{key: k, sep: sep}, {data: k.public}}
		}
	case 1:
		p.script = append(p.script, 0, txscript.OP_CHECKSIG)
		p.stack = []slot{{data: pick(g, []byte{}, []byte{1})}}
	default:
		p.script = push(p.script, g.bytes(pick(g, 1, 31, 33, 65)))
		p.script = append(p.script, txscript.OP_CHECKSIG)
		p.stack = []slot{{data: pick(g, []byte{}, []byte{1}, g.bytes(64))}}
	}
}
