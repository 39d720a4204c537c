package codec

import (
	"io"

	"github.com/btcsuite/btcd/wire"
)

// NewWith returns [New] for a network whose headers may have something after them,
// in the messages block, headers and cmpctblock.
func NewWith(length HeaderLen) func(command string) wire.Message {
	return func(command string) wire.Message {
		switch command {
		case wire.CmdHeaders:
			return &Headers{headerLen: length}
		case CmdCmpctBlock:
			return &CmpctBlock{headerLen: length}
		case wire.CmdBlock:
			return &Block{headerLen: length}
		}
		return New(command)
	}
}

// A Block is a block as it came: it has the form of a block, and nothing of it was
// read into structures of its own.
type Block struct {
	// Raw is the serialized block with what follows its header, and without anything
	// that followed it. It is a part of the payload that it was decoded from.
	Raw []byte

	headerLen HeaderLen
}

// Command implements wire.Message.
func (*Block) Command() string { return wire.CmdBlock }

// MaxPayloadLength implements wire.Message.
func (*Block) MaxPayloadLength(uint32) uint32 { return MaxPayload }

// BtcDecode implements wire.Message.
func (m *Block) BtcDecode(r io.Reader, _ uint32, _ wire.MessageEncoding) error {
	return decodeReader(m, r)
}

func (m *Block) decode(c *cursor) {
	whole := c.b
	c.skipHeader(m.headerLen)
	for n := c.count(minTx); n > 0 && c.err == nil; n-- {
		c.skipTx()
	}
	if c.err == nil {
		end := len(whole) - len(c.b)
		m.Raw = whole[:end:end]
	}
}

// BtcEncode implements wire.Message.
func (m *Block) BtcEncode(to io.Writer, _ uint32, _ wire.MessageEncoding) error {
	_, err := to.Write(m.Raw)
	return err
}
