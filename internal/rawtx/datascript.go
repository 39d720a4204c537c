package rawtx

import "github.com/btcsuite/btcd/txscript"

// DataScript returns a script that cannot be satisfied and pushes data of any
// length. Unlike txscript's builder it never uses an opcode for a small number.
func DataScript(data []byte) []byte {
	n := len(data)
	script := make([]byte, 0, n+6)
	script = append(script, txscript.OP_RETURN)
	switch {
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
