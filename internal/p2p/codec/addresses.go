package codec

import (
	"io"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// MaxAddresses is how many addresses a message may have (Core: MAX_ADDR_TO_SEND).
const MaxAddresses = 1000

// An Address is a node that another node has heard of.
type Address struct {
	Time     uint32 // last heard of, in seconds since 1970
	Services wire.ServiceFlag
	Addr     netaddr.Addr // not valid for a network that is not known
}

// Addresses is a message with addresses of nodes: addrv2 (BIP155), or addr,
// which has no room for addresses beside IPv4 and IPv6.
type Addresses struct {
	V2   bool
	List []Address
}

// Command implements wire.Message.
func (m *Addresses) Command() string {
	if m.V2 {
		return wire.CmdAddrV2
	}
	return wire.CmdAddr
}

// MaxPayloadLength implements wire.Message.
func (*Addresses) MaxPayloadLength(uint32) uint32 { return MaxPayload }

// BtcDecode implements wire.Message. V2 says which message it is.
func (m *Addresses) BtcDecode(r io.Reader, _ uint32, _ wire.MessageEncoding) error {
	return decodeReader(m, r)
}

// decode reads all addresses even where there are too many, because it
// is Core's answer to a message that is also malformed to forget it.
func (m *Addresses) decode(c *cursor) {
	size := 30
	if m.V2 {
		size = 9 // of an empty address in a network to come
	}
	count := c.count(size)
	m.List = make([]Address, 0, min(count, MaxAddresses))
	for range count {
		a := c.address(m.V2)
		if c.err != nil {
			return
		}
		if len(m.List) < MaxAddresses {
			m.List = append(m.List, a)
		}
	}
	if count > MaxAddresses {
		c.fail(tooMany(m.Command(), count))
	}
}

func (c *cursor) address(v2 bool) (a Address) {
	a.Time = c.uint32()
	if v2 {
		a.Services = wire.ServiceFlag(c.compact())
		a.Addr = c.hostV2()
		return a
	}
	a.Services = wire.ServiceFlag(c.uint64())
	var host [16]byte
	c.read(host[:])
	a.Addr = netaddr.FromV1(host, c.port())
	return a
}

// hostV2 reads network, host and port.
func (c *cursor) hostV2() netaddr.Addr {
	network := c.uint8()
	host := c.hostBytes()
	a, err := netaddr.FromV2(network, host, c.port())
	if err != nil {
		c.fail(malformed(err))
	}
	return a
}

func (c *cursor) hostBytes() []byte {
	n := c.size()
	if err := netaddr.CheckLen(n); err != nil {
		c.fail(malformed(err))
		return nil
	}
	return c.next(int(n))
}

// BtcEncode implements wire.Message.
func (m *Addresses) BtcEncode(to io.Writer, _ uint32, _ wire.MessageEncoding) error {
	var w writer
	w.compact(uint64(len(m.List)))
	for _, a := range m.List {
		w.uint32(a.Time)
		if m.V2 {
			network, host := a.Addr.V2()
			w.compact(uint64(a.Services))
			w.uint8(network)
			w.compact(uint64(len(host)))
			w.Write(host)
		} else {
			host := a.Addr.V1()
			w.uint64(uint64(a.Services))
			w.Write(host[:])
		}
		w.port(a.Addr.Port())
	}
	_, err := w.WriteTo(to)
	return err
}
