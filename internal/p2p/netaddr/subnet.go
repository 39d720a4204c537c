package netaddr

import (
	"cmp"
	"net/netip"
	"strconv"
	"strings"
)

// A Subnet is a range of addresses, or a single one. The zero value contains none.
// Subnets can be compared, and used as the keys of a map.
type Subnet struct {
	addr  Addr // without port, and without the bits that do not count
	bits  int  // that count; only for IPv4 and IPv6
	valid bool
}

// SubnetOf returns the subnet of an address alone.
func SubnetOf(a Addr) Subnet {
	return Subnet{addr: a.WithPort(0), bits: 8 * networks[a.network].size, valid: true}
}

// ParseSubnet reads "address", "address/bits" or "address/mask".
//
// Errors: ErrSyntax.
func ParseSubnet(text string) (Subnet, error) {
	at := strings.LastIndexByte(text, '/')
	if at < 0 {
		a, err := ParseHost(text)
		return SubnetOf(a), err
	}
	a, err := ParseHost(text[:at])
	if err != nil {
		return Subnet{}, err
	}
	bits, ok := parseMask(text[at+1:], a.network)
	if !ok || !a.IsV1Compatible() || bits > 8*networks[a.network].size {
		return Subnet{}, ErrSyntax
	}
	return Subnet{addr: a.masked(bits), bits: bits, valid: true}, nil
}

// ParseHost reads a numeric address without a port.
//
// Errors: ErrSyntax.
func ParseHost(text string) (Addr, error) {
	if len(text) > 2 && text[0] == '[' && text[len(text)-1] == ']' {
		text = text[1 : len(text)-1]
	}
	if ip, err := netip.ParseAddr(text); err == nil && ip.Zone() != "" {
		return Addr{}, ErrSyntax
	}
	a, ok := parseHost(text)
	if !ok {
		return Addr{}, ErrSyntax
	}
	return a, nil
}

// parseMask reads a number of bits, or an address whose first bits are set.
func parseMask(text string, network Network) (bits int, ok bool) {
	if n, err := strconv.ParseUint(text, 10, 8); err == nil && text[0] != '+' {
		return int(n), true
	}
	mask, ok := parseHost(text)
	if !ok || mask.network != network {
		return 0, false
	}
	for bits < 8*networks[network].size && mask.bit(bits) {
		bits++
	}
	return bits, mask.masked(bits) == mask
}

func (a Addr) bit(i int) bool { return a.host[i/8]&(0x80>>(i%8)) != 0 }

// masked returns the address with only its first bits.
func (a Addr) masked(bits int) Addr {
	for i := range a.host {
		keep := min(max(bits-8*i, 0), 8)
		a.host[i] &= ^byte(0xff >> keep)
	}
	return a
}

// Contains reports whether an address is in the range, whatever its port.
func (s Subnet) Contains(a Addr) bool {
	return s.valid && a.IsValid() && a.network == s.addr.network && a.WithPort(0).masked(s.bits) == s.addr
}

// String prints the range as Core does: with its number of bits where addresses
// have some that may not count.
func (s Subnet) String() string {
	if !s.addr.IsV1Compatible() {
		return s.addr.Host()
	}
	return s.addr.Host() + "/" + strconv.Itoa(s.bits)
}

// Compare orders subnets by network, address and size.
func (s Subnet) Compare(o Subnet) int {
	return cmp.Or(
		cmp.Compare(order[s.addr.network], order[o.addr.network]),
		strings.Compare(string(s.addr.bytes()), string(o.addr.bytes())),
		cmp.Compare(s.bits, o.bits),
	)
}

// order is Core's of the networks.
var order = [...]int{IPv4: 1, IPv6: 2, Onion: 3, I2P: 4, CJDNS: 5}
