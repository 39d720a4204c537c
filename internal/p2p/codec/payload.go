package codec

import (
	"bytes"
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

// A Block is a block with what follows its header, on networks where something
// does.
type Block struct {
	wire.MsgBlock
	Payload []byte

	headerLen HeaderLen
}

// SerializeSize returns the bytes that the block takes, with its payload.
func (m *Block) SerializeSize() int { return m.MsgBlock.SerializeSize() + len(m.Payload) }

// BtcDecode implements wire.Message.
func (m *Block) BtcDecode(r io.Reader, _ uint32, _ wire.MessageEncoding) error {
	return decodeReader(m, r)
}

func (m *Block) decode(c *cursor) {
	header, payload := c.header(m.headerLen)
	*m = Block{MsgBlock: wire.MsgBlock{Header: header}, Payload: payload, headerLen: m.headerLen}
	for range c.count(minTx) {
		m.Transactions = append(m.Transactions, c.tx())
	}
}

// BtcEncode implements wire.Message.
func (m *Block) BtcEncode(to io.Writer, version uint32, enc wire.MessageEncoding) error {
	var whole bytes.Buffer
	if err := m.MsgBlock.BtcEncode(&whole, version, enc); err != nil {
		return err
	}
	raw := whole.Bytes()
	var w writer
	w.Write(raw[:wire.MaxBlockHeaderPayload])
	w.Write(m.Payload)
	w.Write(raw[wire.MaxBlockHeaderPayload:])
	_, err := w.WriteTo(to)
	return err
}
