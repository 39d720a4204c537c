package netaddr

import "bytes"

// Prefixes of IPv6 addresses that stand for something else.
var (
	mappedPrefix   = []byte{10: 0xff, 11: 0xff}                 // IPv4 in IPv6 (RFC 4291)
	onionV2Prefix  = []byte{0xfd, 0x87, 0xd8, 0x7e, 0xeb, 0x43} // OnionCat, for Tor before version 3
	internalPrefix = []byte{0xfd, 0x6b, 0x88, 0xc0, 0x87, 0x24} // Core's own, for names
	localHost6     = []byte{15: 1}                              // ::1
	documentation6 = []byte{0x20, 0x01, 0x0d, 0xb8}             // RFC 3849
	linkLocal6     = []byte{0xfe, 0x80, 0, 0, 0, 0, 0, 0}       // RFC 4862
	cjdnsPrefix    = byte(0xfc)                                 // all of CJDNS
	orchidPrefix   = []byte{0x20, 0x01, 0x00}                   // RFC 4843 and 7343, by the next four bits
	privateV4      = []struct{ prefix, bits uint32 }{           // not on the public internet:
		{0x0a000000, 8}, {0xc0a80000, 16}, {0xac100000, 12}, // RFC 1918
		{0xc6120000, 15},                                     // RFC 2544
		{0xa9fe0000, 16},                                     // RFC 3927
		{0x64400000, 10},                                     // RFC 6598
		{0xc0000200, 24}, {0xc6336400, 24}, {0xcb007100, 24}, // RFC 5737
	}
)

// under reports whether a is an IPv6 address under the prefix.
func (a Addr) under(prefix []byte) bool {
	return a.network == IPv6 && bytes.HasPrefix(a.bytes(), prefix)
}

// IsValid reports whether the address could be that of a host.
func (a Addr) IsValid() bool {
	switch a.network {
	case IPv4:
		return !a.isV4(0, 32) && !a.isV4(0xffffffff, 32)
	case IPv6:
		return a.host != [32]byte{} && !a.under(documentation6) && !a.under(internalPrefix)
	case CJDNS:
		return a.host[0] == cjdnsPrefix
	default:
		return true
	}
}

// IsLocal reports whether the address is that of this machine.
func (a Addr) IsLocal() bool {
	return a.isV4(0x7f000000, 8) || a.isV4(0, 8) || a.under(localHost6)
}

// IsRoutable reports whether the address can be reached from the public
// internet, or through the network it belongs to.
func (a Addr) IsRoutable() bool {
	if !a.IsValid() || a.IsLocal() {
		return false
	}
	for _, private := range privateV4 {
		if a.isV4(private.prefix, uint(private.bits)) {
			return false
		}
	}
	return !a.under(linkLocal6) && !a.isUniqueLocal() && !a.isOrchid()
}

// isUniqueLocal reports whether a is one of RFC 4193.
func (a Addr) isUniqueLocal() bool { return a.network == IPv6 && a.host[0]&0xfe == 0xfc }

// isOrchid reports whether a is the hash of a key and no address (ORCHID and
// ORCHIDv2).
func (a Addr) isOrchid() bool {
	kind := a.host[3] & 0xf0
	return a.under(orchidPrefix) && (kind == 0x10 || kind == 0x20)
}

// Group returns the group of an address: addresses of one group are likely to
// be in the same hands. It is the first 16 bits of an IPv4 address, 32 of an
// IPv6 address, 4 of a key. Addresses that nobody can reach are one group each.
func (a Addr) Group() []byte {
	switch {
	case a.IsLocal() || !a.IsRoutable():
		return append([]byte{0xff}, a.bytes()...)
	case a.network == IPv4:
		return append([]byte{byte(a.network)}, a.host[:2]...)
	case a.network == IPv6:
		return append([]byte{byte(a.network)}, a.host[:4]...)
	case a.network == CJDNS:
		return []byte{byte(a.network), a.host[0], a.host[1] | 0x0f}
	default:
		return []byte{byte(a.network), a.host[0] | 0x0f}
	}
}
