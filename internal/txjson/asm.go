package txjson

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/txscript"
)

// Asm prints a script as words: numbers for pushes of up to four bytes, hex for
// longer ones, names for other opcodes, and [error] in place of a push that
// runs past the end.
func Asm(script []byte) string { return asm(script, false) }

// asm is [Asm]; with signatures, what looks like a signature has its hash type
// named.
func asm(script []byte, signatures bool) string {
	signatures = signatures && !unspendable(script)
	var text strings.Builder
	tokens := txscript.MakeScriptTokenizer(0, script)
	for tokens.Next() {
		if text.Len() > 0 {
			text.WriteByte(' ')
		}
		switch op, data := tokens.Opcode(), tokens.Data(); {
		case op > txscript.OP_PUSHDATA4:
			text.WriteString(opName(op))
		case len(data) <= 4:
			text.WriteString(strconv.FormatInt(scriptNumber(data), 10))
		case signatures:
			text.WriteString(signatureText(data))
		default:
			text.WriteString(hex.EncodeToString(data))
		}
	}
	if tokens.Err() != nil {
		if text.Len() > 0 {
			text.WriteByte(' ')
		}
		text.WriteString("[error]")
	}
	return text.String()
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
