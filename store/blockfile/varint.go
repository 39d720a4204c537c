package blockfile

import (
	"encoding/binary"
	"fmt"
	"math"
)

// appendVarInt appends n in Core's VARINT: base 128, most significant digit
// first, each digit but the last with bit 7 set and less one (serialize.h).
func appendVarInt(dst []byte, n uint64) []byte {
	var digits [10]byte
	i := len(digits) - 1
	digits[i] = byte(n & 0x7f)
	for n > 0x7f {
		n = n>>7 - 1
		i--
		digits[i] = byte(n&0x7f) | 0x80
	}
	return append(dst, digits[i:]...)
}

// appendCompactSize appends n as a CompactSize: 1, 3, 5 or 9 bytes.
func appendCompactSize(dst []byte, n uint64) []byte {
	switch {
	case n < 0xfd:
		return append(dst, byte(n))
	case n <= math.MaxUint16:
		return binary.LittleEndian.AppendUint16(append(dst, 0xfd), uint16(n))
	case n <= math.MaxUint32:
		return binary.LittleEndian.AppendUint32(append(dst, 0xfe), uint32(n))
	default:
		return binary.LittleEndian.AppendUint64(append(dst, 0xff), n)
	}
}

// A cursor reads serialized numbers and byte strings off the front of b. The
// first failure sticks, in err; everything read after it is zero.
type cursor struct {
	b   []byte
	err error
}

// fail records the first failure and stops all further reading.
func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %s", ErrCorrupt, fmt.Sprintf(format, args...))
	}
	c.b = nil
}

// take returns the next n bytes, a part of the input; nil when they are missing.
func (c *cursor) take(n uint64) []byte {
	if n > uint64(len(c.b)) {
		c.fail("undo data ends early")
		return nil
	}
	front := c.b[:n]
	c.b = c.b[n:]
	return front
}

// varInt reads a VARINT that is at most limit, the largest value of a type.
func (c *cursor) varInt(limit uint64) uint64 {
	var n uint64
	for i, digit := range c.b {
		if n > limit>>7 {
			break
		}
		n = n<<7 | uint64(digit&0x7f)
		if digit&0x80 == 0 {
			c.b = c.b[i+1:]
			return n
		}
		if n == limit {
			break
		}
		n++
	}
	c.fail("number too large or cut off")
	return 0
}

// compactSize reads a CompactSize in its shortest form.
func (c *cursor) compactSize() uint64 {
	first := c.take(1)
	if first == nil {
		return 0
	}
	var n, least uint64
	switch first[0] {
	case 0xfd:
		n, least = uint64(binary.LittleEndian.Uint16(c.padded(2))), 0xfd
	case 0xfe:
		n, least = uint64(binary.LittleEndian.Uint32(c.padded(4))), math.MaxUint16+1
	case 0xff:
		n, least = binary.LittleEndian.Uint64(c.padded(8)), math.MaxUint32+1
	default:
		return uint64(first[0])
	}
	if n < least {
		c.fail("CompactSize not in its shortest form")
		return 0
	}
	return n
}

// padded returns the next n <= 8 bytes, or zeros when they are missing.
func (c *cursor) padded(n uint64) []byte {
	if b := c.take(n); b != nil {
		return b
	}
	return make([]byte, 8)
}

// count reads how many items follow, each of at least size bytes, and so bounds
// what the caller allocates for them by the length of the input.
func (c *cursor) count(size int) int {
	n := c.compactSize()
	if n > uint64(len(c.b)/size) {
		c.fail("%d items in %d bytes", n, len(c.b))
		return 0
	}
	return int(n)
}
