package filters

import (
	"errors"
	"fmt"
)

// HeaderLen is the size of Bitcoin's block header.
const HeaderLen = 80

// Sizes within a transaction.
const (
	outpointLen = 32 + 4
	sequenceLen = 4
	versionLen  = 4
	lockTimeLen = 4
	amountLen   = 8
)

// ErrBadBlock reports bytes that are no serialized block.
var ErrBadBlock = errors.New("malformed block")

// EachOutputScript calls yield with the script of every output of every
// transaction of a serialized block, in order, until yield returns false. The
// scripts are parts of rawBlock. Nothing is allocated.
//
// The block begins with a header of headerLen bytes, [HeaderLen] unless more
// follows the header itself, and has to end with its last transaction. The
// transactions may have witnesses or not. The error wraps [ErrBadBlock]; yield
// may have been called for outputs before the damage.
func EachOutputScript(rawBlock []byte, headerLen int, yield func(script []byte) bool) error {
	c := cursor{rest: rawBlock}
	return c.eachOutputScript(len(rawBlock), headerLen, yield)
}

// eachOutputScript is EachOutputScript of a block of so many bytes. While yield is called
// the cursor is behind the script.
func (c *cursor) eachOutputScript(size, headerLen int, yield func(script []byte) bool) error {
	c.skip(uint64(headerLen))
	for n := c.count(); n > 0 && !c.bad; n-- {
		if !c.transaction(yield) {
			return nil
		}
	}
	if c.bad || len(c.rest) > 0 {
		return fmt.Errorf("%w: at byte %d of %d", ErrBadBlock, size-len(c.rest), size)
	}
	return nil
}

// cursor reads a serialized block. After a failure bad is set, and everything
// read is zero or empty.
type cursor struct {
	rest []byte
	bad  bool
}

// transaction reads one transaction and yields its output scripts. It returns
// false if yield did.
func (c *cursor) transaction(yield func(script []byte) bool) bool {
	c.skip(versionLen)
	inputs := c.count()
	segwit := inputs == 0 // BIP144: the marker is where the count was
	if segwit {
		if flag := c.bytes(1); len(flag) == 1 && flag[0] != 1 {
			c.bad = true
		}
		inputs = c.count()
	}
	for i := uint64(0); i < inputs && !c.bad; i++ {
		c.skip(outpointLen)
		c.skip(c.count())
		c.skip(sequenceLen)
	}
	for n := c.count(); n > 0 && !c.bad; n-- {
		c.skip(amountLen)
		script := c.bytes(c.count())
		if !c.bad && !yield(script) {
			return false
		}
	}
	if segwit {
		c.witnesses(inputs)
	}
	c.skip(lockTimeLen)
	return true
}

// witnesses skips one stack of items for each input.
func (c *cursor) witnesses(inputs uint64) {
	for ; inputs > 0 && !c.bad; inputs-- {
		for items := c.count(); items > 0 && !c.bad; items-- {
			c.skip(c.count())
		}
	}
}

// count reads a CompactSize.
func (c *cursor) count() uint64 {
	n, size := compactSize(c.rest)
	if c.bad || size == 0 {
		c.bad = true
		return 0
	}
	c.rest = c.rest[size:]
	return n
}

func (c *cursor) skip(n uint64) { c.bytes(n) }

// bytes reads n bytes; they are capped so that appending to them copies.
func (c *cursor) bytes(n uint64) []byte {
	if c.bad || n > uint64(len(c.rest)) {
		c.bad = true
		return nil
	}
	b := c.rest[:n:n]
	c.rest = c.rest[n:]
	return b
}
