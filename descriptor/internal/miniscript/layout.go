package miniscript

import "github.com/btcsuite/btcd/txscript"

// piece is a part of the script of a fragment.
type piece struct {
	kind pieceKind
	arg  int
}

type pieceKind uint8

const (
	opcodePiece  pieceKind = iota // the opcode arg
	subPiece                      // the script of sub-expression arg
	keyPiece                      // push of key arg
	keyHashPiece                  // push of the hash of key arg
	numberPiece                   // push of the number arg
	ownPiece                      // push of the number of the node
	digestPiece                   // push of the digest of the node
)

func op(code int) piece   { return piece{opcodePiece, code} }
func sub(i int) piece     { return piece{subPiece, i} }
func key(i int) piece     { return piece{keyPiece, i} }
func number(n int) piece  { return piece{numberPiece, n} }
func keyHash(i int) piece { return piece{keyHashPiece, i} }

var (
	ownNumber = piece{kind: ownPiece}
	digest    = piece{kind: digestPiece}
)

// layouts are the scripts of the fragments that always look the same.
var layouts = [fragmentCount][]piece{
	constFalse: {number(0)},
	constTrue:  {number(1)},
	pkK:        {key(0)},
	pkH:        {op(txscript.OP_DUP), op(txscript.OP_HASH160), keyHash(0), op(txscript.OP_EQUALVERIFY)},
	older:      {ownNumber, op(txscript.OP_CHECKSEQUENCEVERIFY)},
	after:      {ownNumber, op(txscript.OP_CHECKLOCKTIMEVERIFY)},
	sha256:     hashLayout(txscript.OP_SHA256),
	hash256:    hashLayout(txscript.OP_HASH256),
	ripemd160:  hashLayout(txscript.OP_RIPEMD160),
	hash160:    hashLayout(txscript.OP_HASH160),
	wrapA:      {op(txscript.OP_TOALTSTACK), sub(0), op(txscript.OP_FROMALTSTACK)},
	wrapS:      {op(txscript.OP_SWAP), sub(0)},
	wrapC:      {sub(0), op(txscript.OP_CHECKSIG)},
	wrapD:      {op(txscript.OP_DUP), op(txscript.OP_IF), sub(0), op(txscript.OP_ENDIF)},
	wrapJ: {
		op(txscript.OP_SIZE), op(txscript.OP_0NOTEQUAL), op(txscript.OP_IF), sub(0), op(txscript.OP_ENDIF),
	},
	wrapN: {sub(0), op(txscript.OP_0NOTEQUAL)},
	andV:  {sub(0), sub(1)},
	andB:  {sub(0), sub(1), op(txscript.OP_BOOLAND)},
	orB:   {sub(0), sub(1), op(txscript.OP_BOOLOR)},
	orC:   {sub(0), op(txscript.OP_NOTIF), sub(1), op(txscript.OP_ENDIF)},
	orD:   {sub(0), op(txscript.OP_IFDUP), op(txscript.OP_NOTIF), sub(1), op(txscript.OP_ENDIF)},
	orI:   {op(txscript.OP_IF), sub(0), op(txscript.OP_ELSE), sub(1), op(txscript.OP_ENDIF)},
	andOr: {sub(0), op(txscript.OP_NOTIF), sub(2), op(txscript.OP_ELSE), sub(1), op(txscript.OP_ENDIF)},
}

func hashLayout(hash int) []piece {
	return []piece{
		op(txscript.OP_SIZE), number(32), op(txscript.OP_EQUALVERIFY), op(hash), digest, op(txscript.OP_EQUAL),
	}
}

// overhead is the size of the opcodes of a fragment in layouts.
func overhead(f fragment) (n int) {
	for _, piece := range layouts[f] {
		if piece.kind == opcodePiece {
			n++
		}
	}
	return n
}

// layout returns the pieces of the script, in order.
func (n *node) layout() (pieces []piece) {
	switch n.fragment {
	case wrapV:
		// The last opcode of other expressions has a form that verifies.
		pieces = append(pieces, sub(0))
		if n.subs[0].typ.has("x") {
			pieces = append(pieces, op(txscript.OP_VERIFY))
		}
	case multi:
		pieces = append(pieces, ownNumber)
		for i := range n.keys {
			pieces = append(pieces, key(i))
		}
		pieces = append(pieces, number(len(n.keys)), op(txscript.OP_CHECKMULTISIG))
	case multiA:
		pieces = append(pieces, key(0), op(txscript.OP_CHECKSIG))
		for i := range n.keys[1:] {
			pieces = append(pieces, key(i+1), op(txscript.OP_CHECKSIGADD))
		}
		pieces = append(pieces, ownNumber, op(txscript.OP_NUMEQUAL))
	case thresh:
		pieces = append(pieces, sub(0))
		for i := range n.subs[1:] {
			pieces = append(pieces, sub(i+1), op(txscript.OP_ADD))
		}
		pieces = append(pieces, ownNumber, op(txscript.OP_EQUAL))
	default:
		pieces = layouts[n.fragment]
	}
	return pieces
}

// size returns the bytes that the piece takes in the script of n.
func (p piece) size(n *node, ctx Context) int {
	switch p.kind {
	case subPiece:
		return n.subs[p.arg].size
	case keyPiece:
		return 1 + ctx.keySize()
	case keyHashPiece:
		return 1 + 20
	case numberPiece:
		return numberSize(p.arg)
	case ownPiece:
		return numberSize(int(n.number))
	case digestPiece:
		return 1 + len(n.digest)
	default:
		return 1
	}
}

// numberSize is the size of the push of a number that is not negative.
func numberSize(n int) int { return len(appendNumber(nil, n)) }

// appendNumber pushes a number, 0 to 2^31-1, in its only minimal form.
func appendNumber(script []byte, n int) []byte {
	switch {
	case n == 0:
		return append(script, txscript.OP_0)
	case n <= 16:
		return append(script, byte(txscript.OP_1+n-1))
	}
	length := len(script)
	script = append(script, 0)
	for ; n > 0; n >>= 8 {
		script = append(script, byte(n))
	}
	if script[len(script)-1]&0x80 != 0 { // that bit is the sign
		script = append(script, 0)
	}
	script[length] = byte(len(script) - length - 1)
	return script
}
