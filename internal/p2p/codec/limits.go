package codec

import (
	"fmt"

	"github.com/btcsuite/btcd/wire"
)

// maxLocator is how many hashes a block locator may have (Core: MAX_LOCATOR_SZ).
const maxLocator = 101

// maxNotFound is how many entries Core looks at in notfound: as many as a peer may have been
// asked for at a time (MAX_PEER_TX_ANNOUNCEMENTS, MAX_BLOCKS_IN_TRANSIT_PER_PEER).
const maxNotFound = 5000 + 16

// A list describes a message that is a count and that many entries.
type list struct {
	offset int // bytes before the count
	size   int // bytes of an entry
	max    int

	// ignored: a longer list is as an empty one. Core looks at no entry of it, and the peer stays.
	ignored bool
}

// lists are the messages of btcd whose decoders believe the count. A count above
// max that the payload really holds is no accident, unless it is ignored.
var lists = map[string]list{
	wire.CmdInv:       {0, 36, wire.MaxInvPerMsg, false},
	wire.CmdGetData:   {0, 36, wire.MaxInvPerMsg, false},
	wire.CmdNotFound:  {0, 36, maxNotFound, true},
	wire.CmdCFHeaders: {65, 32, wire.MaxCFHeadersPerMsg, true},
	wire.CmdCFCheckpt: {33, 32, 100_000, true},
}

// isIgnored reports whether a message is a list that is too long to be looked at.
func isIgnored(m wire.Message, payload []byte) bool {
	l := lists[m.Command()]
	if !l.ignored {
		return false
	}
	c := cursor{b: payload}
	c.next(l.offset)
	return c.count(l.size) > l.max
}

// check looks at the counts in the payload of a message of btcd before they
// are believed.
func check(m wire.Message, payload []byte) error {
	c := cursor{b: payload}
	switch m.(type) {
	case *wire.MsgGetBlocks, *wire.MsgGetHeaders:
		c.next(4) // version
		if count := c.count(32); c.err == nil && count > maxLocator {
			return fmt.Errorf("%w: %s locator size %d > %d", ErrLocator, m.Command(), count, maxLocator)
		}
	case *wire.MsgInv, *wire.MsgGetData, *wire.MsgNotFound, *wire.MsgCFHeaders, *wire.MsgCFCheckpt:
		l := lists[m.Command()]
		c.next(l.offset)
		if count := c.count(l.size); c.err == nil && count > l.max && !l.ignored {
			return tooMany(m.Command(), count)
		}
	case *wire.MsgFilterLoad:
		bits := c.count(1)
		c.next(bits)
		hashes := c.uint32()
		if c.err == nil && (bits > wire.MaxFilterLoadFilterSize || hashes > wire.MaxFilterLoadHashFuncs) {
			return fmt.Errorf("%w: too-large bloom filter", ErrMisbehaving)
		}
	case *wire.MsgFilterAdd:
		if size := c.count(1); c.err == nil && size > wire.MaxFilterAddDataSize {
			return fmt.Errorf("%w: bad filteradd message", ErrMisbehaving)
		}
	}
	return c.err
}

// tooMany is what Core says of a message with too many entries.
func tooMany(command string, count int) error {
	return fmt.Errorf("%w: %s message size = %d", ErrMisbehaving, command, count)
}
