package codec

import (
	"fmt"
	"io"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// MaxUserAgent is how many bytes a user agent may have (Core:
// MAX_SUBVERSION_LENGTH).
const MaxUserAgent = 256

// A Version is the message that begins a connection. Everything from Nonce on
// may be missing in one received; StartHeight is then -1.
type Version struct {
	Protocol       int32
	Services       wire.ServiceFlag
	Time           int64 // seconds since 1970
	YourServices   wire.ServiceFlag
	You            netaddr.Addr // where the sender sees the receiver
	Nonce          uint64       // tells a node that it speaks to itself
	UserAgent      string       // at most MaxUserAgent bytes
	StartHeight    int32        // of the sender's best block
	NoTransactions bool         // the sender wants no transactions announced
}

// Command implements wire.Message.
func (*Version) Command() string { return wire.CmdVersion }

// MaxPayloadLength implements wire.Message.
func (*Version) MaxPayloadLength(uint32) uint32 { return MaxPayload }

// BtcDecode implements wire.Message.
func (m *Version) BtcDecode(r io.Reader, _ uint32, _ wire.MessageEncoding) error {
	return decodeReader(m, r)
}

// decode reads what is there, as versions before 70001 end earlier.
func (m *Version) decode(c *cursor) {
	*m = Version{Nonce: 1, StartHeight: -1}
	m.Protocol = int32(c.uint32())
	m.Services = wire.ServiceFlag(c.uint64())
	m.Time = max(int64(c.uint64()), 0)
	m.YourServices = wire.ServiceFlag(c.uint64())
	var host [16]byte
	c.read(host[:])
	m.You = netaddr.FromV1(host, c.port())
	if len(c.b) > 0 {
		c.next(26) // the sender's services and address, which it cannot know
		m.Nonce = c.uint64()
	}
	if len(c.b) > 0 {
		m.UserAgent = c.userAgent()
	}
	if len(c.b) > 0 {
		m.StartHeight = int32(c.uint32())
	}
	if len(c.b) > 0 {
		m.NoTransactions = c.uint8() == 0
	}
}

func (c *cursor) userAgent() string {
	n := c.size()
	if n > MaxUserAgent {
		c.fail(fmt.Errorf("%w: String length limit exceeded", ErrMalformed))
		return ""
	}
	return string(c.next(int(n)))
}

// BtcEncode implements wire.Message.
func (m *Version) BtcEncode(to io.Writer, _ uint32, _ wire.MessageEncoding) error {
	if len(m.UserAgent) > MaxUserAgent {
		return fmt.Errorf("user agent of %d bytes, more than %d", len(m.UserAgent), MaxUserAgent)
	}
	var w writer
	w.uint32(uint32(m.Protocol))
	w.uint64(uint64(m.Services))
	w.uint64(uint64(m.Time))
	you := m.You.V1()
	w.uint64(uint64(m.YourServices))
	w.Write(you[:])
	w.port(m.You.Port())
	w.uint64(uint64(m.Services))
	w.Write(make([]byte, 16+2)) // the sender's own address
	w.uint64(m.Nonce)
	w.compact(uint64(len(m.UserAgent)))
	w.WriteString(m.UserAgent)
	w.uint32(uint32(m.StartHeight))
	w.bool(!m.NoTransactions)
	_, err := w.WriteTo(to)
	return err
}
