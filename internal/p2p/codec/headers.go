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
type Headers struct {
	List []wire.BlockHeader

	// Payloads are the bytes between each header and that number, on networks whose
	// headers carry a payload; nil if no header has a payload.
	Payloads [][]byte

	headerLen HeaderLen
}

// HeaderLen returns the length of the header, with what follows it, that raw begins
// with; -1 when it is cut short. It believes no length that the bytes do not back.
type HeaderLen func(raw []byte) int

// Payload returns what follows a header of the list.
func (m *Headers) Payload(i int) []byte {
	if i < len(m.Payloads) {
		return m.Payloads[i]
	}
	return nil
}

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
		c.fail(ErrEnd)
		return
	}
	m.List = make([]wire.BlockHeader, count)
	for i := range m.List {
		var payload []byte
		m.List[i], payload = c.header(m.headerLen)
		if payload != nil {
			if m.Payloads == nil {
				m.Payloads = make([][]byte, count)
			}
			m.Payloads[i] = payload
		}
		c.size() // transactions
	}
}

// skipHeader returns the bytes of a header with what follows it, nil after a failure.
func (c *cursor) skipHeader(length HeaderLen) []byte {
	size := wire.MaxBlockHeaderPayload
	if length != nil {
		if size = length(c.b); size < wire.MaxBlockHeaderPayload {
			c.fail(ErrEnd)
			return nil
		}
	}
	return c.next(size)
}

// header reads a header and a copy of what follows it.
func (c *cursor) header(length HeaderLen) (h wire.BlockHeader, payload []byte) {
	raw := c.skipHeader(length)
	if c.err != nil {
		return h, nil
	}
	_ = h.Deserialize(bytes.NewReader(raw)) // any 80 bytes are a header
	if len(raw) > wire.MaxBlockHeaderPayload {
		payload = bytes.Clone(raw[wire.MaxBlockHeaderPayload:])
	}
	return h, payload
}

// BtcEncode implements wire.Message.
func (m *Headers) BtcEncode(to io.Writer, _ uint32, _ wire.MessageEncoding) error {
	var w writer
	w.compact(uint64(len(m.List)))
	for i := range m.List {
		if err := m.List[i].Serialize(&w); err != nil {
			return err
		}
		w.Write(m.Payload(i))
		w.compact(0)
	}
	_, err := w.WriteTo(to)
	return err
}
