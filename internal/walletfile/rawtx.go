package walletfile

import (
	"bytes"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

var errTx = errors.New("not a transaction")

// tx reads a transaction with its witness (BIP144). Its extent is found first,
// so that no memory is taken for counts that the bytes do not bear out.
func (c *cursor) tx() *wire.MsgTx {
	start := c.rest
	c.skipTx()
	if c.err != nil {
		return nil
	}
	raw := start[:len(start)-len(c.rest)]
	tx := new(wire.MsgTx)
	if tx.Deserialize(bytes.NewReader(raw)) != nil || !bytes.Equal(appendTx(nil, tx), raw) {
		c.fail(errTx)
		return nil
	}
	return tx
}

// appendTx appends a transaction with its witness. A nil one appends nothing.
func appendTx(dst []byte, tx *wire.MsgTx) []byte {
	if tx == nil {
		return dst
	}
	buffer := bytes.NewBuffer(dst)
	_ = tx.Serialize(buffer) // a buffer does not fail
	return buffer.Bytes()
}

// skipTx reads past a transaction.
func (c *cursor) skipTx() {
	c.take(4) // version
	inputs := c.compact()
	witness := c.err == nil && inputs == 0
	if witness {
		if c.uint8() != 1 {
			c.fail(errTx)
		}
		inputs = c.compact()
	}
	c.repeat(inputs, func() {
		c.take(chainhash.HashSize + 4)
		c.bytes() // script
		c.take(4) // sequence
	})
	c.repeat(c.compact(), func() {
		c.take(8) // amount
		c.bytes() // script
	})
	if witness {
		c.repeat(inputs, func() {
			c.repeat(c.compact(), func() { c.bytes() })
		})
	}
	c.take(4) // lock time
}

// skipMerkleTx reads past a transaction with the merkle branch to its block.
func (c *cursor) skipMerkleTx() {
	c.skipTx()
	c.take(chainhash.HashSize)
	c.take(c.compact() * chainhash.HashSize)
	c.take(4)
}

// repeat reads n parts, or as many as there are.
func (c *cursor) repeat(n int, read func()) {
	for range n {
		if c.err != nil {
			return
		}
		read()
	}
}
