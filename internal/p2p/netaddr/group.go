package netaddr

import "encoding/binary"

// IPv6 addresses that stand for one of IPv4, and networks that hand out many.
var (
	nat64Prefix    = []byte{0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0} // RFC 6052
	stateless6     = []byte{8: 0xff, 9: 0xff, 11: 0}                     // RFC 6145
	sixToFour      = []byte{0x20, 0x02}                                  // RFC 3964
	teredoPrefix   = []byte{0x20, 0x01, 0, 0}                            // RFC 4380
	heNet          = []byte{0x20, 0x01, 0x04, 0x70}                      // of Hurricane Electric
	unroutableKind = []byte{0}
)

// The kinds of addresses, as they begin a NetGroup.
var groupKinds = [...]byte{IPv4: 1, IPv6: 2, Onion: 3, I2P: 4, CJDNS: 5}

// NetGroup returns Bitcoin Core's group of an address, in the form that goes into the
// hashes of its table of addresses. The group is the first 16 bits of an IPv4 address,
// even if embedded in an IPv6 address, 32 or 36 bits of other IPv6 addresses, and 4 bits
// of a key. All addresses that cannot be reached are one group.
func (a Addr) NetGroup() []byte {
	if !a.IsRoutable() {
		return unroutableKind
	}
	if v4, ok := a.linkedV4(); ok {
		return []byte{groupKinds[IPv4], byte(v4 >> 24), byte(v4 >> 16)}
	}
	host, bits := a.bytes(), 32
	switch {
	case a.network == Onion, a.network == I2P:
		bits = 4
	case a.network == CJDNS:
		bits = 12
	case a.under(heNet):
		bits = 36
	}
	group := append([]byte{groupKinds[a.network]}, host[:bits/8]...)
	if rest := bits % 8; rest > 0 {
		group = append(group, host[bits/8]|(1<<(8-rest)-1))
	}
	return group
}

// InternetKey returns the address as maps of the internet look it up: the 16 bytes of an
// IPv6 address, or of that of the IPv4 address which it is or stands for. It reports false
// for addresses that are not on the public internet.
func (a Addr) InternetKey() (key [16]byte, ok bool) {
	if !a.IsRoutable() || a.network != IPv4 && a.network != IPv6 {
		return key, false
	}
	if v4, ok := a.linkedV4(); ok {
		copy(key[:], mappedPrefix)
		binary.BigEndian.PutUint32(key[12:], v4)
		return key, true
	}
	copy(key[:], a.host[:])
	return key, true
}

// linkedV4 returns the IPv4 address that a is or stands for.
func (a Addr) linkedV4() (uint32, bool) {
	be := binary.BigEndian
	switch {
	case a.network == IPv4:
		return be.Uint32(a.host[:]), true
	case a.under(nat64Prefix), a.under(stateless6):
		return be.Uint32(a.host[12:]), true
	case a.under(sixToFour):
		return be.Uint32(a.host[2:]), true
	case a.under(teredoPrefix):
		return ^be.Uint32(a.host[12:]), true
	}
	return 0, false
}
