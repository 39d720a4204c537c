package txjson

import (
	"encoding/hex"
	"strconv"

	"github.com/btcsuite/btcd/txscript"
)

// Asm prints a script as words: numbers for pushes of up to four bytes, hex for
// longer pushes, names for other opcodes. A push that runs past the end becomes
// [error].
func Asm(script []byte) string { return asm(script, false) }

// asm is [Asm]; with signatures, what looks like a signature has its hash type
// named.
func asm(script []byte, signatures bool) string {
	signatures = signatures && !unspendable(script)
	var room [512]byte // enough for nearly all
	text := room[:0]
	tokens := txscript.MakeScriptTokenizer(0, script)
	for tokens.Next() {
		if len(text) > 0 {
			text = append(text, ' ')
		}
		switch op, data := tokens.Opcode(), tokens.Data(); {
		case op > txscript.OP_PUSHDATA4:
			text = append(text, opName(op)...)
		case len(data) <= 4:
			text = strconv.AppendInt(text, scriptNumber(data), 10)
		case signatures:
			text = appendSignature(text, data)
		default:
			text = hex.AppendEncode(text, data)
		}
	}
	if tokens.Err() != nil {
		if len(text) > 0 {
			text = append(text, ' ')
		}
		text = append(text, "[error]"...)
	}
	return string(text)
}

// unspendable reports whether no input can satisfy the script, so that nothing
// in it is a signature.
func unspendable(script []byte) bool {
	return len(script) > 0 && script[0] == txscript.OP_RETURN || len(script) > txscript.MaxScriptSize
}

// scriptNumber reads a push of at most four bytes: little-endian, the highest
// bit is the sign, any length is accepted.
func scriptNumber(data []byte) int64 {
	var n int64
	for i, b := range data {
		n |= int64(b) << (8 * i)
	}
	if len(data) > 0 && data[len(data)-1]&0x80 != 0 {
		n = -(n &^ (0x80 << (8 * (len(data) - 1))))
	}
	return n
}
