package walletfile

import (
	"encoding/binary"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// maxCompact is the highest CompactSize that Core reads (MAX_SIZE).
const maxCompact = 0x02000000

var (
	errEnd        = errors.New("unexpected end")
	errCompact    = errors.New("size not in its shortest form, or too large")
	errPublicKey  = errors.New("not a public key")
	errExtKey     = errors.New("not an extended key")
	errPrivateKey = errors.New("not a private key")
	errTrailing   = errors.New("bytes after the last field")
	errKeyHash    = errors.New("private key does not have its checksum")
)

// cursor reads fields from the front of a byte string. The first failure stays
// in err, and everything read after it is zero.
type cursor struct {
	rest []byte
	err  error
}

func (c *cursor) fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.rest = nil
}

// take returns the next n bytes, without a copy.
func (c *cursor) take(n int) []byte {
	if n > len(c.rest) {
		c.fail(errEnd)
	}
	if c.err != nil {
		return nil
	}
	taken := c.rest[:n:n]
	c.rest = c.rest[n:]
	return taken
}

// fixed fills dst.
func (c *cursor) fixed(dst []byte) { copy(dst, c.take(len(dst))) }

func (c *cursor) uint8() uint8 {
	var b [1]byte
	c.fixed(b[:])
	return b[0]
}

func (c *cursor) bool() bool { return c.uint8() != 0 }

func (c *cursor) uint32() uint32 {
	var b [4]byte
	c.fixed(b[:])
	return binary.LittleEndian.Uint32(b[:])
}

func (c *cursor) uint64() uint64 {
	var b [8]byte
	c.fixed(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

func (c *cursor) int32() int32 { return int32(c.uint32()) }
func (c *cursor) int64() int64 { return int64(c.uint64()) }

func (c *cursor) hash() (h chainhash.Hash) {
	c.fixed(h[:])
	return h
}

// compact reads a CompactSize.
func (c *cursor) compact() int {
	var n, least uint64
	switch first := c.uint8(); first {
	case 0xfd:
		b := [2]byte{}
		c.fixed(b[:])
		n, least = uint64(binary.LittleEndian.Uint16(b[:])), 0xfd
	case 0xfe:
		n, least = uint64(c.uint32()), 0x10000
	case 0xff:
		n, least = c.uint64(), 0x100000000
	default:
		n = uint64(first)
	}
	if c.err == nil && (n < least || n > maxCompact) {
		c.fail(errCompact)
	}
	if c.err != nil {
		return 0
	}
	return int(n)
}

// bytes reads a byte string with its length, without a copy.
func (c *cursor) bytes() []byte { return c.take(c.compact()) }

func (c *cursor) text() string { return string(c.bytes()) }

// publicKey reads a public key with its length; the point is not looked at.
func (c *cursor) publicKey() PublicKey {
	key := PublicKey(c.bytes())
	if c.err == nil && !key.valid() {
		c.fail(errPublicKey)
	}
	return PublicKey(cloneBytes(key))
}

// cloneBytes copies b; unlike bytes.Clone it never returns nil.
func cloneBytes(b []byte) []byte { return append(make([]byte, 0, len(b)), b...) }

// appendCompact appends a CompactSize.
func appendCompact(dst []byte, n int) []byte {
	switch {
	case n < 0xfd:
		return append(dst, byte(n))
	case n <= 0xffff:
		return binary.LittleEndian.AppendUint16(append(dst, 0xfd), uint16(n))
	default:
		return binary.LittleEndian.AppendUint32(append(dst, 0xfe), uint32(n))
	}
}

// appendBytes appends a byte string with its length.
func appendBytes[T ~string | ~[]byte](dst []byte, b T) []byte {
	return append(appendCompact(dst, len(b)), b...)
}

func appendUint32(dst []byte, n uint32) []byte { return binary.LittleEndian.AppendUint32(dst, n) }
func appendUint64(dst []byte, n uint64) []byte { return binary.LittleEndian.AppendUint64(dst, n) }

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// KeyPrefix returns the bytes with which the keys of a type begin: the name
// with its length.
func KeyPrefix(name string) []byte { return appendBytes(nil, name) }
