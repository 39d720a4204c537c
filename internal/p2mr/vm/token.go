package vm

import "encoding/binary"

// Opcodes that push what follows them.
const (
	opPushData1 = 0x4c
	opPushData2 = 0x4d
	opPushData4 = 0x4e
	op1Negate   = 0x4f
	op1         = 0x51
	op16        = 0x60
)

// next cuts an opcode with its data off a script; ok is false where the script
// ends in the middle of a push.
func next(script []byte) (op byte, data, rest []byte, ok bool) {
	op, rest = script[0], script[1:]
	var width int
	switch {
	case op < opPushData1:
		return cut(op, rest, uint64(op))
	case op == opPushData1:
		width = 1
	case op == opPushData2:
		width = 2
	case op == opPushData4:
		width = 4
	default:
		return op, nil, rest, true
	}
	if len(rest) < width {
		return op, nil, nil, false
	}
	var size [8]byte
	copy(size[:], rest[:width])
	return cut(op, rest[width:], binary.LittleEndian.Uint64(size[:]))
}

func cut(op byte, rest []byte, n uint64) (byte, []byte, []byte, bool) {
	if n > uint64(len(rest)) {
		return op, nil, nil, false
	}
	return op, rest[:n:n], rest[n:], true
}

// shortest reports whether a push could not be shorter.
func shortest(op byte, data []byte) bool {
	switch n := len(data); {
	case n == 0:
		return op == 0
	case n == 1 && data[0] >= 1 && data[0] <= 16, n == 1 && data[0] == 0x81:
		return false
	case n < opPushData1:
		return int(op) == n
	case n <= 0xff:
		return op == opPushData1
	case n <= 0xffff:
		return op == opPushData2
	}
	return true
}

// success tells the opcodes that make a script succeed at once, until a later rule
// gives them a meaning.
func success(op byte) bool {
	switch {
	case op == 0x50, op == 0x62, op >= 0x7e && op <= 0x81, op >= 0x83 && op <= 0x86, op == 0x89, op == 0x8a,
		op == 0x8d, op == 0x8e, op >= 0x95 && op <= 0x99, op >= 0xbe && op <= 0xfe:
		return true
	}
	return false
}
