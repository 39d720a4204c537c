package spends_test

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/txscript"
)

// assemble reads a script: opcodes without their prefix, numbers, and bytes as
// they are behind 0x.
func assemble(text string) (script []byte) {
	for word := range strings.FieldsSeq(text) {
		n, err := strconv.ParseInt(word, 10, 64)
		code, isOp := txscript.OpcodeByName["OP_"+word]
		switch {
		case err == nil && n >= -1 && n <= 16:
			if n != 0 {
				n += txscript.OP_1 - 1
			}
			script = append(script, byte(n))
		case err == nil:
			script = push(script, number(n))
		case strings.HasPrefix(word, "0x"):
			raw, err := hex.DecodeString(word[2:])
			if err != nil {
				panic(err) // the texts are ours
			}
			script = append(script, raw...)
		case isOp:
			script = append(script, code)
		default:
			panic("no opcode " + word)
		}
	}
	return script
}

// number is the shortest form of a number.
func number(n int64) (b []byte) {
	size := uint64(max(n, -n))
	for ; size > 0; size >>= 8 {
		b = append(b, byte(size))
	}
	if len(b) > 0 && b[len(b)-1]&0x80 != 0 {
		b = append(b, 0)
	}
	if n < 0 {
		b[len(b)-1] |= 0x80
	}
	return b
}

// push appends the push of data by its size.
func push(script, data []byte) []byte {
	switch n := len(data); {
	case n < txscript.OP_PUSHDATA1:
		script = append(script, byte(n))
	case n <= 0xff:
		script = append(script, txscript.OP_PUSHDATA1, byte(n))
	case n <= 0xffff:
		script = binary.LittleEndian.AppendUint16(append(script, txscript.OP_PUSHDATA2), uint16(n))
	default:
		script = binary.LittleEndian.AppendUint32(append(script, txscript.OP_PUSHDATA4), uint32(n))
	}
	return append(script, data...)
}

// pushShort appends the shortest push of data.
func pushShort(script, data []byte) []byte {
	if len(data) == 1 && data[0] >= 1 && data[0] <= 16 {
		return append(script, txscript.OP_1-1+data[0])
	}
	if len(data) == 1 && data[0] == 0x81 {
		return append(script, txscript.OP_1NEGATE)
	}
	return push(script, data)
}

// opcodes counts the opcodes of a script, as far as it can be read.
func opcodes(script []byte, count *[256]int) {
	for at := 0; at < len(script); {
		op := script[at]
		count[op]++
		at++
		left := len(script) - at
		switch {
		case op < txscript.OP_PUSHDATA1:
			at += int(op)
		case op == txscript.OP_PUSHDATA1 && left >= 1:
			at += 1 + int(script[at])
		case op == txscript.OP_PUSHDATA2 && left >= 2:
			at += 2 + int(binary.LittleEndian.Uint16(script[at:]))
		case op == txscript.OP_PUSHDATA4 && left >= 4:
			at += 4 + int(min(binary.LittleEndian.Uint32(script[at:]), 1<<24))
		}
	}
}
