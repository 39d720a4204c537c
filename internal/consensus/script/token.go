package script

import "encoding/binary"

// Opcodes that are named here and there.
const (
	opPushData1           = 0x4c
	opPushData2           = 0x4d
	opPushData4           = 0x4e
	op1Negate             = 0x4f
	op1                   = 0x51
	op16                  = 0x60
	opIf                  = 0x63
	opNotIf               = 0x64
	opElse                = 0x67
	opEndIf               = 0x68
	opDup                 = 0x76
	opEqual               = 0x87
	opEqualVerify         = 0x88
	opHash160             = 0xa9
	opCodeSeparator       = 0xab
	opCheckSig            = 0xac
	opCheckSigVerify      = 0xad
	opCheckMultiSig       = 0xae
	opCheckMultiSigVerify = 0xaf
)

// next reads the opcode of a script at a place before its end. It returns the
// opcode, the pushed data, which shares memory with the script, and the place
// behind. Where the script ends in the middle of a push good is false, and end
// is the place behind the bytes that give the size of the push.
func next(script []byte, at int) (op byte, data []byte, end int, good bool) {
	op = script[at]
	at++
	if op > opPushData4 {
		return op, nil, at, true
	}
	left := len(script) - at
	var size uint32
	switch {
	case op < opPushData1:
		size = uint32(op)
	case op == opPushData1:
		if left < 1 {
			return op, nil, at, false
		}
		size = uint32(script[at])
		at++
	case op == opPushData2:
		if left < 2 {
			return op, nil, at, false
		}
		size = uint32(binary.LittleEndian.Uint16(script[at:]))
		at += 2
	default:
		if left < 4 {
			return op, nil, at, false
		}
		size = binary.LittleEndian.Uint32(script[at:])
		at += 4
	}
	if uint64(size) > uint64(len(script)-at) {
		return op, nil, at, false
	}
	end = at + int(size)
	return op, script[at:end:end], end, true
}

// IsPushOnly reports whether a script only pushes, as OP_RESERVED is held to do.
func IsPushOnly(script []byte) bool {
	for at := 0; at < len(script); {
		op, _, end, good := next(script, at)
		if !good || op > op16 {
			return false
		}
		at = end
	}
	return true
}

// IsPayToScriptHash reports whether an output script is BIP16's.
func IsPayToScriptHash(script []byte) bool {
	return len(script) == 23 && script[0] == opHash160 && script[1] == 20 && script[22] == opEqual
}

// WitnessProgram returns the version and the program of an output script that
// takes a witness (BIP141).
func WitnessProgram(script []byte) (version int, program []byte, ok bool) {
	if len(script) < 4 || len(script) > 42 || int(script[1])+2 != len(script) {
		return 0, nil, false
	}
	switch op := script[0]; {
	case op == 0:
		return 0, script[2:], true
	case op >= op1 && op <= op16:
		return int(op-op1) + 1, script[2:], true
	}
	return 0, nil, false
}

// shortest reports whether a push could not be shorter.
func shortest(op byte, data []byte) bool {
	switch n := len(data); {
	case n == 0:
		return op == 0
	case n == 1 && (data[0] >= 1 && data[0] <= 16 || data[0] == 0x81):
		return false // has an opcode of its own
	case n < opPushData1:
		return int(op) == n
	case n <= 0xff:
		return op == opPushData1
	case n <= 0xffff:
		return op == opPushData2
	}
	return true
}

// isPushOf reports whether a script is the push of data by its size. That is the
// shortest push, except for data that has an opcode of its own.
func isPushOf(script, data []byte) bool {
	if len(script) == 0 {
		return false
	}
	op, pushed, end, good := next(script, 0)
	return good && op <= opPushData4 && end == len(script) && string(pushed) == string(data) &&
		op == pushOpcode(len(data))
}

// pushOpcode is the opcode that pushes so many bytes.
func pushOpcode(n int) byte {
	switch {
	case n < opPushData1:
		return byte(n)
	case n <= 0xff:
		return opPushData1
	case n <= 0xffff:
		return opPushData2
	}
	return opPushData4
}

// appendPush appends the push of data by its size.
func appendPush(script, data []byte) []byte {
	op := pushOpcode(len(data))
	script = append(script, op)
	switch op {
	case opPushData1:
		script = append(script, byte(len(data)))
	case opPushData2:
		script = binary.LittleEndian.AppendUint16(script, uint16(len(data)))
	case opPushData4:
		script = binary.LittleEndian.AppendUint32(script, uint32(len(data)))
	}
	return append(script, data...)
}

// disabled tells the opcodes that may not occur in legacy scripts and in those of
// witness version 0, executed or not.
func disabled(op byte) bool {
	switch op {
	case 0x7e, 0x7f, 0x80, 0x81, 0x83, 0x84, 0x85, 0x86, 0x8d, 0x8e, 0x95, 0x96, 0x97, 0x98, 0x99:
		return true
	}
	return false
}

// success tells the opcodes that make a tapscript succeed at once, until a later
// rule gives them a meaning (BIP342).
func success(op byte) bool {
	switch {
	case op == 0x50, op == 0x62, op >= 0x7e && op <= 0x81, op >= 0x83 && op <= 0x86, op == 0x89, op == 0x8a,
		op == 0x8d, op == 0x8e, op >= 0x95 && op <= 0x99, op >= 0xbb && op <= 0xfe:
		return true
	}
	return false
}
