package codec

import (
	"bytes"
	"io"

	"github.com/btcsuite/btcd/wire"
)

// MaxHeaders is how many headers a message may have (Core: MAX_HEADERS_RESULTS).
const MaxHeaders = wire.MaxBlockHeadersPerMsg

// Headers is the answer to getheaders. After each header stands a number of
// transactions, which is written as 0 and, as in Core, not looked at.
type Headers struct{ List []wire.BlockHeader }

// Command implements wire.Message.
func (*Headers) Command() string { return wire.CmdHeaders }

// MaxPayloadLength implements wire.Message.
func (*Headers) MaxPayloadLength(uint32) uint32 { return MaxPayload }

// BtcDecode implements wire.Message.
func (m *Headers) BtcDecode(r io.Reader, _ uint32, _ wire.MessageEncoding) error {
	return decodeReader(m, r)
}

// decode refuses a message by its count alone, as Core does.
func (m *Headers) decode(c *cursor) {
	count := c.size()
	if count > MaxHeaders {
		c.fail(tooMany(m.Command(), int(count)))
		return
	}
	if count > uint64(len(c.b)/(wire.MaxBlockHeaderPayload+1)) {
		c.fail(errEnd)
		return
	}
	m.List = make([]wire.BlockHeader, count)
	for i := range m.List {
		m.List[i] = c.header()
		c.size() // transactions
	}
}

func (c *cursor) header() (h wire.BlockHeader) {
	raw := c.next(wire.MaxBlockHeaderPayload)
	if c.err == nil {
		_ = h.Deserialize(bytes.NewReader(raw)) // any 80 bytes are a header
	}
	return h
}

// BtcEncode implements wire.Message.
func (m *Headers) BtcEncode(to io.Writer, _ uint32, _ wire.MessageEncoding) error {
	var w writer
	w.compact(uint64(len(m.List)))
	for i := range m.List {
		if err := m.List[i].Serialize(&w); err != nil {
			return err
		}
		w.compact(0)
	}
	_, err := w.WriteTo(to)
	return err
}
