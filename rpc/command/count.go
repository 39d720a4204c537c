package command

import "encoding/binary"

// AppendCount appends a number as nodes send those of elements (CompactSize); n must be below 2^32.
func AppendCount(dst []byte, n int) []byte {
	switch {
	case n < 0xfd:
		return append(dst, byte(n))
	case n <= 0xffff:
		return binary.LittleEndian.AppendUint16(append(dst, 0xfd), uint16(n))
	default:
		return binary.LittleEndian.AppendUint32(append(dst, 0xfe), uint32(n))
	}
}
