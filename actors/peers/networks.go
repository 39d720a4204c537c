package peers

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/netsetup"
	"github.com/seed61375155/trawl/messages"
)

// coreNetworks are all networks in Core's order.
var coreNetworks = [...]netaddr.Network{netaddr.IPv4, netaddr.IPv6, netaddr.Onion, netaddr.I2P, netaddr.CJDNS}

// networks says of which networks addresses are used.
type networks struct {
	reachable map[netaddr.Network]bool // nil: all
	proxies   map[netaddr.Network]netsetup.Proxy
}

// setOnion sets the proxy for Tor, which is reached by it where it may be.
func (n *networks) setOnion(through netsetup.Proxy, reach bool) {
	n.proxies = maps.Clone(n.proxies) // others read the old one
	n.reachable = maps.Clone(n.reachable)
	if n.proxies == nil {
		n.proxies = make(map[netaddr.Network]netsetup.Proxy)
	}
	n.proxies[netaddr.Onion] = through
	if reach && n.reachable != nil {
		n.reachable[netaddr.Onion] = true
	}
}

// reaches reports whether addresses of a network are kept.
func (n *networks) reaches(network netaddr.Network) bool {
	return n.reachable == nil || n.reachable[network]
}

// usable reports whether a network can be connected to.
func (n *networks) usable(network netaddr.Network) bool {
	if !n.reaches(network) {
		return false
	}
	return network == netaddr.IPv4 || network == netaddr.IPv6 ||
		network == netaddr.CJDNS && n.reachable[network] || n.proxies[network].Addr != ""
}

// list returns all networks in Core's order.
func (n *networks) list() []messages.NetworkUse {
	var all []messages.NetworkUse
	for _, network := range coreNetworks {
		proxy := n.proxies[network]
		all = append(all, messages.NetworkUse{
			Name: network.String(), Reachable: n.usable(network), Proxy: proxy.Addr, Randomize: proxy.Randomize,
		})
	}
	return all
}

// A secret makes choices that nobody else can foresee.
type secret [16]byte

// hash is a number for a text and numbers.
func (s *secret) hash(text string, numbers ...uint64) uint64 {
	b := append(s[:], text...)
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	sum := sha256.Sum256(b)
	return binary.LittleEndian.Uint64(sum[:])
}

// group is what addresses have in common that are likely to be in one hand: their autonomous
// system or, where it is not known, their first bits.
func (b *base) group(a netaddr.Addr) string {
	if as := b.cfg.ASMap.AS(a); as != 0 {
		return fmt.Sprintf("AS%d", as)
	}
	return string(a.Group())
}
