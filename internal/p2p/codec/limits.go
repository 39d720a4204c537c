package codec

import (
	"fmt"

	"github.com/btcsuite/btcd/wire"
)

// maxLocator is how many hashes a block locator may have (Core: MAX_LOCATOR_SZ).
const maxLocator = 101

// A list describes a message that is a count and that many entries.
type list struct {
	offset int // bytes before the count
	size   int // bytes of an entry
	max    int
}

// lists are the messages of btcd whose decoders believe the count. A count above
// max that the payload really holds is no accident.
var lists = map[string]list{
	wire.CmdInv:       {0, 36, wire.MaxInvPerMsg},
	wire.CmdGetData:   {0, 36, wire.MaxInvPerMsg},
	wire.CmdNotFound:  {0, 36, wire.MaxInvPerMsg},
	wire.CmdCFHeaders: {65, 32, wire.MaxCFHeadersPerMsg},
	wire.CmdCFCheckpt: {33, 32, 100_000},
}

// check looks at the counts in the payload of a message of btcd before they
// are believed.
func check(m wire.Message, payload []byte) error {
	c := cursor{b: payload}
	switch m.(type) {
	case *wire.MsgTx:
		c.skipTx()
	case *wire.MsgBlock:
		c.next(wire.MaxBlockHeaderPayload)
		for range c.count(minTx) {
			c.skipTx()
		}
	case *wire.MsgGetBlocks, *wire.MsgGetHeaders:
		c.next(4) // version
		if count := c.count(32); c.err == nil && count > maxLocator {
			return fmt.Errorf("%w: %s locator size %d > %d", ErrLocator, m.Command(), count, maxLocator)
		}
	case *wire.MsgInv, *wire.MsgGetData, *wire.MsgNotFound, *wire.MsgCFHeaders, *wire.MsgCFCheckpt:
		l := lists[m.Command()]
		c.next(l.offset)
		if count := c.count(l.size); c.err == nil && count > l.max {
			return tooMany(m.Command(), count)
		}
	}
	return c.err
}

// tooMany is what Core says of a message with too many entries.
func tooMany(command string, count int) error {
	return fmt.Errorf("%w: %s message size = %d", ErrMisbehaving, command, count)
}

// minTx is the length of the shortest transaction: version, no inputs, no
// outputs and lock time.
const minTx = 10

// skipTx skips a transaction with or without witnesses (BIP144). It decodes
// nothing: it makes sure that every count and length in it is backed by bytes,
// so that btcd's decoder can believe them, and returns the bytes.
func (c *cursor) skipTx() []byte {
	start := c.b
	c.next(4) // version
	witness := len(c.b) >= 2 && c.b[0] == 0 && c.b[1] != 0
	if witness {
		c.next(2) // marker and flag
	}
	inputs := c.count(41)
	for range inputs {
		c.next(36)
		c.next(int(c.size()))
		c.next(4)
	}
	for range c.count(9) {
		c.next(8)
		c.next(int(c.size()))
	}
	if witness {
		c.skipWitnesses(inputs)
	}
	c.next(4) // lock time
	return start[:len(start)-len(c.b)]
}

// skipWitnesses skips the witnesses of a transaction, of which one at least must
// not be empty.
func (c *cursor) skipWitnesses(inputs int) {
	some := false
	for range inputs {
		items := c.count(1)
		some = some || items > 0
		for range items {
			c.next(int(c.size()))
		}
	}
	if !some {
		c.fail(errSuperfluousWitness)
	}
}

var errSuperfluousWitness = fmt.Errorf("%w: Superfluous witness record", ErrMalformed)

// tx reads a transaction.
func (c *cursor) tx() *wire.MsgTx {
	raw := c.skipTx()
	if c.err != nil {
		return nil
	}
	tx, err := parseTx(raw)
	if err != nil {
		c.fail(malformed(err))
	}
	return tx
}
