package codec

import (
	"fmt"

	"github.com/btcsuite/btcd/wire"
)

// minTx is the length of the shortest transaction: version, no inputs, no
// outputs and lock time.
const minTx = 10

var (
	errSuperfluousWitness = fmt.Errorf("%w: Superfluous witness record", ErrMalformed)
	errUnknownOptional    = fmt.Errorf("%w: Unknown transaction optional data", ErrMalformed)
)

// tx reads a transaction with or without witnesses (BIP144) as Core does: what
// begins like one without inputs has witnesses if a flag follows, and neither inputs
// nor outputs if none does. Memory is in proportion to the payload.
func (c *cursor) tx() *wire.MsgTx {
	tx := &wire.MsgTx{Version: int32(c.uint32())}
	flags := uint8(0)
	tx.TxIn = c.inputs()
	if len(tx.TxIn) > 0 {
		tx.TxOut = c.outputs()
	} else if flags = c.uint8(); flags != 0 {
		tx.TxIn, tx.TxOut = c.inputs(), c.outputs()
	}
	if flags&1 != 0 {
		c.witnesses(tx)
	}
	if flags > 1 {
		c.fail(errUnknownOptional)
	}
	tx.LockTime = c.uint32()
	if c.err != nil {
		return nil
	}
	return tx
}

func (c *cursor) inputs() []*wire.TxIn {
	list := make([]*wire.TxIn, c.count(41))
	for i := range list {
		in := new(wire.TxIn)
		in.PreviousOutPoint.Hash = c.hash()
		in.PreviousOutPoint.Index = c.uint32()
		in.SignatureScript = c.bytes()
		in.Sequence = c.uint32()
		list[i] = in
	}
	return list
}

func (c *cursor) outputs() []*wire.TxOut {
	list := make([]*wire.TxOut, c.count(9))
	for i := range list {
		list[i] = &wire.TxOut{Value: int64(c.uint64())}
		list[i].PkScript = c.bytes()
	}
	return list
}

// witnesses reads the witnesses of all inputs, of which one at least must not be
// empty.
func (c *cursor) witnesses(tx *wire.MsgTx) {
	some := false
	for _, in := range tx.TxIn {
		items := c.count(1)
		some = some || items > 0
		in.Witness = make(wire.TxWitness, items)
		for i := range in.Witness {
			in.Witness[i] = c.bytes()
		}
	}
	if !some {
		c.fail(errSuperfluousWitness)
	}
}

// bytes returns a copy of the bytes whose number comes first.
func (c *cursor) bytes() []byte { return append([]byte{}, c.next(int(c.size()))...) }

// block reads a block after its header.
func (c *cursor) txs() []*wire.MsgTx {
	list := make([]*wire.MsgTx, c.count(minTx))
	for i := range list {
		list[i] = c.tx()
	}
	return list
}

// skipTx passes over a transaction, and fails where tx does.
func (c *cursor) skipTx() {
	c.next(4)
	flags := uint8(0)
	inputs := c.skipInputs()
	if inputs > 0 {
		c.skipOutputs()
	} else if flags = c.uint8(); flags != 0 {
		inputs = c.skipInputs()
		c.skipOutputs()
	}
	if flags&1 != 0 {
		c.skipWitnesses(inputs)
	}
	if flags > 1 {
		c.fail(errUnknownOptional)
	}
	c.next(4)
}

func (c *cursor) skipInputs() int {
	count := c.count(41)
	for n := count; n > 0 && c.err == nil; n-- {
		c.next(36)
		c.skipBytes()
		c.next(4)
	}
	return count
}

func (c *cursor) skipOutputs() {
	for n := c.count(9); n > 0 && c.err == nil; n-- {
		c.next(8)
		c.skipBytes()
	}
}

func (c *cursor) skipWitnesses(inputs int) {
	some := false
	for ; inputs > 0 && c.err == nil; inputs-- {
		items := c.count(1)
		some = some || items > 0
		for ; items > 0 && c.err == nil; items-- {
			c.skipBytes()
		}
	}
	if !some {
		c.fail(errSuperfluousWitness)
	}
}

func (c *cursor) skipBytes() { c.next(int(c.size())) }
