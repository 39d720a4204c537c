// Package netaddr is the address of a node: on the internet, or in one of the
// networks that hide where a node is. It reads and prints addresses as Bitcoin
// Core 30.2 does (src/netaddress.cpp). It knows both forms of addresses in
// messages: the old 16 bytes, and the form of BIP155.
//
// The package is pure: it resolves no name and opens no connection.
package netaddr

import (
	"encoding/binary"
	"net/netip"
	"strconv"
)

// A Network says which kind of address an Addr is.
type Network uint8

// The networks, of which IPv6 is the zero value so that an Addr that was never
// set is the unspecified address, as it is in Core.
const (
	IPv6 Network = iota
	IPv4
	Onion // Tor, version 3
	I2P
	CJDNS
)

// networks has, for each network, its name in -onlynet and getpeerinfo, its
// number in BIP155, and how many bytes an address has.
var networks = [...]struct {
	name string
	id   byte
	size int
}{
	IPv6:  {"ipv6", 2, 16},
	IPv4:  {"ipv4", 1, 4},
	Onion: {"onion", 4, 32},
	I2P:   {"i2p", 5, 32},
	CJDNS: {"cjdns", 6, 16},
}

// String returns the name that Core uses, as in -onlynet.
func (n Network) String() string { return networks[n].name }

// ParseNetwork returns the network of a name, as in -onlynet.
func ParseNetwork(name string) (Network, bool) {
	for n, known := range networks {
		if known.name == name {
			return Network(n), true
		}
	}
	return 0, false
}

// An Addr is where a node can be reached. The zero value is no address. Addrs
// can be compared, and used as the keys of a map.
type Addr struct {
	host    [32]byte // the first networks[network].size bytes count
	port    uint16
	network Network
}

// FromAddrPort returns the address of an internet endpoint. An IPv4 address
// within an IPv6 one becomes IPv4; a zone is dropped.
func FromAddrPort(at netip.AddrPort) Addr {
	a := fromIP(at.Addr())
	a.port = at.Port()
	return a
}

// fromIP returns an address without a port.
func fromIP(ip netip.Addr) (a Addr) {
	ip = ip.Unmap()
	if !ip.IsValid() {
		return a
	}
	if ip.Is4() {
		a.network = IPv4
	}
	copy(a.host[:], ip.AsSlice())
	return a
}

// OnCJDNS returns an IPv6 address with CJDNS's prefix as an address of CJDNS, and any other
// address unchanged. It is for nodes that reach CJDNS.
func (a Addr) OnCJDNS() Addr {
	if a.network == IPv6 && a.host[0] == cjdnsPrefix {
		a.network = CJDNS
	}
	return a
}

// Network returns which kind of address this is.
func (a Addr) Network() Network { return a.network }

// Port returns the port: 0 where there is none, as for I2P.
func (a Addr) Port() uint16 { return a.port }

// WithPort returns the same host with another port.
func (a Addr) WithPort(port uint16) Addr {
	a.port = port
	return a
}

// bytes returns the bytes of the host.
func (a Addr) bytes() []byte { return a.host[:networks[a.network].size] }

// AddrPort returns the address as an internet endpoint, which CJDNS also is.
// It reports false for the networks that are reached through a proxy only.
func (a Addr) AddrPort() (netip.AddrPort, bool) {
	switch a.network {
	case IPv4:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(a.host[:4])), a.port), true
	case IPv6, CJDNS:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(a.host[:16])), a.port), true
	default:
		return netip.AddrPort{}, false
	}
}

// Host returns the address without its port, as Core prints it: an IPv6
// address has no brackets.
func (a Addr) Host() string {
	switch a.network {
	case Onion:
		return onionHost(a.host)
	case I2P:
		return i2pHost(a.host)
	default:
		at, _ := a.AddrPort()
		return at.Addr().String()
	}
}

// String returns address and port as Core prints them in getpeerinfo and the
// log, and as Parse reads them.
func (a Addr) String() string {
	host := a.Host()
	if a.network == IPv6 || a.network == CJDNS {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(int(a.port))
}

// isV4 reports whether a is an IPv4 address under the prefix, of which bits
// bits count.
func (a Addr) isV4(prefix uint32, bits uint) bool {
	return a.network == IPv4 && (binary.BigEndian.Uint32(a.host[:4])^prefix)>>(32-bits) == 0
}
