package codec

import (
	"io"

	"github.com/btcsuite/btcd/wire"
)

// SendTxRcncl offers the reconciliation of transactions (BIP330), which Core
// does not take unless -txreconciliation is set.
type SendTxRcncl struct {
	Version uint32
	Salt    uint64
}

// Command implements wire.Message.
func (*SendTxRcncl) Command() string { return CmdSendTxRcncl }

// MaxPayloadLength implements wire.Message.
func (*SendTxRcncl) MaxPayloadLength(uint32) uint32 { return MaxPayload }

// BtcDecode implements wire.Message.
func (m *SendTxRcncl) BtcDecode(r io.Reader, _ uint32, _ wire.MessageEncoding) error {
	return decodeReader(m, r)
}

func (m *SendTxRcncl) decode(c *cursor) {
	m.Version = c.uint32()
	m.Salt = c.uint64()
}

// BtcEncode implements wire.Message.
func (m *SendTxRcncl) BtcEncode(to io.Writer, _ uint32, _ wire.MessageEncoding) error {
	var w writer
	w.uint32(m.Version)
	w.uint64(m.Salt)
	_, err := w.WriteTo(to)
	return err
}

// A Raw is a message with an encoded payload: a block from the disk, for
// example, or a message to be decoded elsewhere.
type Raw struct {
	Name    string
	Payload []byte // not written to
}

// Command implements wire.Message.
func (m *Raw) Command() string { return m.Name }

// MaxPayloadLength implements wire.Message.
func (*Raw) MaxPayloadLength(uint32) uint32 { return MaxPayload }

// BtcDecode implements wire.Message.
func (m *Raw) BtcDecode(r io.Reader, _ uint32, _ wire.MessageEncoding) (err error) {
	m.Payload, err = io.ReadAll(io.LimitReader(r, MaxPayload))
	return err
}

// BtcEncode implements wire.Message.
func (m *Raw) BtcEncode(w io.Writer, _ uint32, _ wire.MessageEncoding) error {
	_, err := w.Write(m.Payload)
	return err
}
