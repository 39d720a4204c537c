package consensus

import "encoding/binary"

// The opcodes by which outputs are recognised.
const (
	opPushData1 = 0x4c
	opPushData2 = 0x4d
	opPushData4 = 0x4e
	opReturn    = 0x6a
)

const maxScriptSize = 10_000

// Unspendable reports whether nobody can ever spend an output, so that it is in no
// set of unspent outputs.
func Unspendable(script []byte) bool {
	return len(script) > 0 && script[0] == opReturn || len(script) > maxScriptSize
}

// Parses reports whether no push of a script is cut short.
func Parses(script []byte) bool {
	for len(script) > 0 {
		n, width := 0, 0
		switch op := script[0]; op {
		case opPushData1:
			width = 1
		case opPushData2:
			width = 2
		case opPushData4:
			width = 4
		default:
			if op < opPushData1 {
				n = int(op)
			}
		}
		if script = script[1:]; len(script) < width {
			return false
		}
		switch width {
		case 1:
			n = int(script[0])
		case 2:
			n = int(binary.LittleEndian.Uint16(script))
		case 4:
			n = int(binary.LittleEndian.Uint32(script))
		}
		if script = script[width:]; len(script) < n {
			return false
		}
		script = script[n:]
	}
	return true
}
