package trawl

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

const (
	// proxyPort is that of a SOCKS5 proxy which names none: Tor's.
	proxyPort = 9050

	// Scores of own addresses, as Core counts: of an interface, and named by the
	// operator.
	scoreInterface = 1
	scoreManual    = 4
)

// reach fills in how the node reaches which networks.
//
// Errors: StartError.
func (n *Node) reach(cfg *peers.Config) error {
	p := n.cfg.Peers
	source := peers.TCP{Proxies: make(map[netaddr.Network]string), Randomize: p.ProxyRandomize}
	for _, text := range p.Proxy {
		if err := addProxy(&source, text); err != nil {
			return err
		}
	}
	if p.NoOnion {
		delete(source.Proxies, netaddr.Onion)
	} else if p.Onion != "" {
		addr, err := proxyAddr(p.Onion)
		if err != nil {
			return StartError(fmt.Sprintf("Invalid -onion address or hostname: '%s'", p.Onion))
		}
		source.Proxies[netaddr.Onion] = addr
	}
	only := make(map[netaddr.Network]bool)
	for _, name := range p.OnlyNet {
		network, ok := netaddr.ParseNetwork(strings.ToLower(name))
		if !ok {
			return StartError(fmt.Sprintf("Unknown network specified in -onlynet: '%s'", name))
		}
		only[network] = true
	}
	cfg.Reachable = make(map[netaddr.Network]bool)
	for _, network := range []netaddr.Network{netaddr.IPv4, netaddr.IPv6, netaddr.Onion, netaddr.CJDNS} {
		if network == netaddr.CJDNS && !p.CJDNS {
			continue
		}
		direct := network != netaddr.Onion || source.Proxies[network] != ""
		cfg.Reachable[network] = direct && (len(only) == 0 || only[network])
	}
	cfg.Source, cfg.Proxies, cfg.NameProxy, cfg.ProxyRandomize = source, source.Proxies, source.Names != "", p.ProxyRandomize
	return nil
}

// addProxy reads "host[:port][=network]".
func addProxy(source *peers.TCP, text string) error {
	text, name, one := strings.Cut(text, "=")
	addr, err := proxyAddr(text)
	if err != nil {
		return StartError(fmt.Sprintf("Invalid -proxy address or hostname: '%s'", text))
	}
	if !one {
		for _, network := range []netaddr.Network{netaddr.IPv4, netaddr.IPv6, netaddr.Onion, netaddr.CJDNS} {
			source.Proxies[network] = addr
		}
		source.Names = addr
		return nil
	}
	if name == "tor" {
		name = netaddr.Onion.String()
	}
	network, ok := netaddr.ParseNetwork(name)
	if !ok {
		return StartError(fmt.Sprintf("Unrecognized network in -proxy='%s=%s': '%s'", text, name, name))
	}
	source.Proxies[network] = addr
	return nil
}

// proxyAddr reads "host[:port]" or "unix:path".
func proxyAddr(text string) (string, error) {
	if strings.HasPrefix(text, peers.UnixProxy) {
		return text, nil
	}
	host, port, ok := netaddr.SplitHostPort(text, proxyPort)
	if !ok || host == "" || strings.ContainsAny(host, "/ @") {
		return "", netaddr.ErrSyntax
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port))), nil
}

// locals returns the addresses at which the node can be reached: those that the
// operator names, and else those of its interfaces that are public.
//
// Errors: StartError.
func (n *Node) locals() ([]peers.Local, error) {
	p := n.cfg.Peers
	port := p.Port
	if port == 0 {
		port = n.net.P2PPort
	}
	var list []peers.Local
	for _, text := range p.ExternalIP {
		a, err := netaddr.Parse(text, port)
		if err != nil {
			return nil, StartError(fmt.Sprintf("Cannot resolve -externalip address: '%s'", text))
		}
		list = append(list, peers.Local{Addr: a, Score: scoreManual})
	}
	if !p.Discover || !p.Listen {
		return list, nil
	}
	found, err := net.InterfaceAddrs()
	if err != nil {
		n.cfg.Log.Warn("own addresses not found", "err", err)
		return list, nil
	}
	for _, at := range found {
		prefix, err := netip.ParsePrefix(at.String())
		if err != nil {
			continue
		}
		a := netaddr.FromAddrPort(netip.AddrPortFrom(prefix.Addr(), port))
		known := slices.ContainsFunc(list, func(l peers.Local) bool { return l.Addr == a })
		if a.IsRoutable() && !known {
			list = append(list, peers.Local{Addr: a, Score: scoreInterface})
		}
	}
	return list, nil
}

// seeds returns the DNS names that have addresses of nodes.
func (n *Node) seeds() []string {
	var names []string
	for _, seed := range n.net.Params.DNSSeeds {
		if seed.HasFiltering {
			names = append(names, seed.Host)
		}
	}
	return names
}
