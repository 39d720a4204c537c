package coinfile

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/seed61375155/trawl/store/blockfile"
)

// Codes of scripts that are stored short; any other is the length of the script plus special.
const (
	hashCode = 1 // and those below it: 20 bytes follow
	keyCode  = 5 // and those below it: 32 bytes
	special  = keyCode + 1
)

// maxScript is the length above which a script cannot be spent: Core reads it as a lone
// OP_RETURN.
const maxScript = 10_000

const opReturn = 0x6a

// coin reads an output as the chain's database has it (Core's Coin).
func (r *Reader) coin(c *blockfile.Coin) error {
	code, err := r.varInt(math.MaxUint32)
	if err != nil {
		return err
	}
	amount, err := r.varInt(math.MaxUint64)
	if err != nil {
		return err
	}
	c.Height, c.Coinbase, c.Amount = int32(code>>1), code&1 != 0, int64(expand(amount))
	kind, err := r.varInt(math.MaxUint32)
	if err != nil {
		return err
	}
	c.Script, err = r.readScript(kind)
	return err
}

// expand returns an amount from its short form. It may overflow, as Core's does.
func expand(x uint64) uint64 {
	if x == 0 {
		return 0
	}
	x--
	zeros := x % 10
	x /= 10
	n := x + 1
	if zeros < 9 {
		n = x/9*10 + x%9 + 1
	}
	for range zeros {
		n *= 10
	}
	return n
}

func (r *Reader) readScript(kind uint64) ([]byte, error) {
	size := kind - special
	switch {
	case kind <= hashCode:
		return r.short(byte(kind), 20)
	case kind <= keyCode:
		return r.short(byte(kind), 32)
	case size > maxScript:
		if _, err := io.CopyN(io.Discard, r.in, int64(size)); err != nil {
			return nil, errCut
		}
		return []byte{opReturn}, nil
	}
	if uint64(cap(r.script)) < size {
		r.script = make([]byte, maxScript)
	}
	script := r.script[:size]
	if _, err := io.ReadFull(r.in, script); err != nil {
		return nil, errCut
	}
	return script, nil
}

// short reads a script of a known form.
func (r *Reader) short(code byte, size int) ([]byte, error) {
	var packed [33]byte
	packed[0] = code
	if _, err := io.ReadFull(r.in, packed[1:1+size]); err != nil {
		return nil, errCut
	}
	script, err := blockfile.UnpackScript(r.script[:0], packed[:1+size])
	if err == nil {
		r.script = script[:len(script):cap(script)]
	}
	return script, err
}

// varInt reads Core's VARINT, which is at most limit, the largest value of a type.
func (r *Reader) varInt(limit uint64) (uint64, error) {
	var n uint64
	for {
		digit, err := r.in.ReadByte()
		if err != nil || n > limit>>7 {
			return 0, errCut
		}
		n = n<<7 | uint64(digit&0x7f)
		if digit&0x80 == 0 {
			return n, nil
		}
		if n == limit {
			return 0, errCut
		}
		n++
	}
}

// maxCount is the greatest CompactSize that Core reads.
const maxCount = 0x02000000

// compactSize reads a CompactSize in its shortest form.
func (r *Reader) compactSize() (uint64, error) {
	first, err := r.in.ReadByte()
	if err != nil {
		return 0, errCut
	}
	var size int
	var least uint64
	switch first {
	case 0xfd:
		size, least = 2, 0xfd
	case 0xfe:
		size, least = 4, math.MaxUint16+1
	case 0xff:
		size, least = 8, math.MaxUint32+1
	default:
		return uint64(first), nil
	}
	var b [8]byte
	if _, err := io.ReadFull(r.in, b[:size]); err != nil {
		return 0, errCut
	}
	if n := binary.LittleEndian.Uint64(b[:]); n >= least && n <= maxCount {
		return n, nil
	}
	return 0, errCut
}
