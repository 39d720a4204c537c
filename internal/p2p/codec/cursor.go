package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// maxSize is the largest count that Core reads as the size of anything, in
// entries or bytes (src/serialize.h).
const maxSize = 0x02000000

var (
	errSizeTooLarge     = fmt.Errorf("%w: size too large", ErrMalformed)
	errSizeNonCanonical = fmt.Errorf("%w: non-canonical ReadCompactSize()", ErrMalformed)
)

// A cursor reads a payload from its start. The first failure stays in err, and
// everything read after it is zero.
type cursor struct {
	b   []byte // what is left
	err error
}

// fail keeps the first error.
func (c *cursor) fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.b = nil
}

// next returns n bytes, which belong to the payload, or nil.
func (c *cursor) next(n int) []byte {
	if n > len(c.b) {
		c.fail(ErrEnd)
		return nil
	}
	b := c.b[:n:n]
	c.b = c.b[n:]
	return b
}

// read fills b, which keeps its contents where the payload is too short.
func (c *cursor) read(b []byte) { copy(b, c.next(len(b))) }

func (c *cursor) uint8() uint8 {
	var b [1]byte
	c.read(b[:])
	return b[0]
}

func (c *cursor) uint32() uint32 {
	var b [4]byte
	c.read(b[:])
	return binary.LittleEndian.Uint32(b[:])
}

func (c *cursor) uint64() uint64 {
	var b [8]byte
	c.read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// port reads a port, which unlike all other numbers is big-endian.
func (c *cursor) port() uint16 {
	var b [2]byte
	c.read(b[:])
	return binary.BigEndian.Uint16(b[:])
}

func (c *cursor) hash() (h chainhash.Hash) {
	c.read(h[:])
	return h
}

// compact reads a number in Bitcoin's compact form, of which only the shortest
// is allowed.
func (c *cursor) compact() uint64 {
	first := c.uint8()
	if first < 0xfd {
		return uint64(first)
	}
	size := 2 << (first - 0xfd) // 2, 4 or 8
	var b [8]byte
	c.read(b[:size])
	n := binary.LittleEndian.Uint64(b[:])
	least := uint64(0xfd)
	if size > 2 {
		least = 1 << (4 * size)
	}
	if c.err == nil && n < least {
		c.fail(errSizeNonCanonical)
	}
	return n
}

// size reads how many entries or bytes follow.
func (c *cursor) size() uint64 {
	n := c.compact()
	if n > maxSize {
		c.fail(errSizeTooLarge)
		return 0
	}
	return n
}

// count reads how many entries of at least size bytes follow, and makes sure
// that so many can: what is then allocated is in proportion to the payload.
func (c *cursor) count(size int) int {
	n := c.size()
	if n > uint64(len(c.b)/size) {
		c.fail(ErrEnd)
		return 0
	}
	return int(n)
}

// decoder is a message of this package.
type decoder interface{ decode(c *cursor) }

// decodePayload reads a whole payload.
func decodePayload(m decoder, payload []byte) error {
	c := cursor{b: payload}
	m.decode(&c)
	return c.err
}

// decodeReader reads a message from r, for wire.Message.
func decodeReader(m decoder, r io.Reader) error {
	payload, err := io.ReadAll(io.LimitReader(r, MaxPayload+1))
	if err != nil {
		return err
	}
	if len(payload) > MaxPayload {
		return errors.New("payload too long")
	}
	return decodePayload(m, payload)
}

// A writer collects a payload.
type writer struct{ bytes.Buffer }

func (w *writer) uint8(n uint8)   { w.WriteByte(n) }
func (w *writer) uint32(n uint32) { w.Write(binary.LittleEndian.AppendUint32(nil, n)) }
func (w *writer) uint64(n uint64) { w.Write(binary.LittleEndian.AppendUint64(nil, n)) }
func (w *writer) port(n uint16)   { w.Write(binary.BigEndian.AppendUint16(nil, n)) }

// compact writes a number in Bitcoin's compact form.
func (w *writer) compact(n uint64) {
	switch {
	case n < 0xfd:
		w.uint8(uint8(n))
	case n <= 0xffff:
		w.Write(binary.LittleEndian.AppendUint16([]byte{0xfd}, uint16(n)))
	case n <= 0xffffffff:
		w.Write(binary.LittleEndian.AppendUint32([]byte{0xfe}, uint32(n)))
	default:
		w.Write(binary.LittleEndian.AppendUint64([]byte{0xff}, n))
	}
}

// bool writes one byte.
func (w *writer) bool(b bool) {
	if b {
		w.uint8(1)
	} else {
		w.uint8(0)
	}
}
