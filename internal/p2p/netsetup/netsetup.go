// Package netsetup reads what the operator says of the network of peers: where to accept
// them, through which proxies to reach them, who has permissions, which addresses are
// the node's own. Texts of errors are Core's.
package netsetup

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/messages"
)

const (
	// proxyPort is that of a SOCKS5 proxy which names none: Tor's.
	proxyPort = 9050

	// Scores of local addresses, as Core counts: of an interface, and named by the
	// operator.
	scoreInterface = 1
	scoreManual    = 4
)

// Ways say how networks are reached.
type Ways struct {
	Proxy     []string // SOCKS5 proxies, "host[:port]" or "unix:path" for all networks, with "=network" for one
	Onion     string   // that for Tor
	NoOnion   bool     // do not reach Tor through Proxy either
	CJDNS     bool     // the host reaches the CJDNS network
	Randomize bool     // other credentials for each connection
	OnlyNet   []string // names of the networks to connect to; empty: all that can be reached
}

// Reach returns what connects to peers, and which networks it reaches.
//
// Errors: [messages.StartError].
func Reach(p Ways) (source TCP, reachable map[netaddr.Network]bool, err error) {
	source = TCP{Proxies: make(map[netaddr.Network]string), Randomize: p.Randomize}
	for _, text := range p.Proxy {
		if err := addProxy(&source, text); err != nil {
			return source, nil, err
		}
	}
	if p.NoOnion {
		delete(source.Proxies, netaddr.Onion)
	} else if p.Onion != "" {
		addr, err := proxyAddr(p.Onion)
		if err != nil {
			return source, nil, messages.StartError(fmt.Sprintf("Invalid -onion address or hostname: '%s'", p.Onion))
		}
		source.Proxies[netaddr.Onion] = addr
	}
	only := make(map[netaddr.Network]bool)
	for _, name := range p.OnlyNet {
		network, ok := netaddr.ParseNetwork(strings.ToLower(name))
		if !ok {
			return source, nil, messages.StartError(fmt.Sprintf("Unknown network specified in -onlynet: '%s'", name))
		}
		only[network] = true
	}
	reachable = make(map[netaddr.Network]bool)
	for _, network := range []netaddr.Network{netaddr.IPv4, netaddr.IPv6, netaddr.Onion, netaddr.CJDNS} {
		if network == netaddr.CJDNS && !p.CJDNS {
			continue
		}
		direct := network != netaddr.Onion || source.Proxies[network] != ""
		reachable[network] = direct && (len(only) == 0 || only[network])
	}
	return source, reachable, nil
}

// addProxy reads "host[:port][=network]".
func addProxy(source *TCP, text string) error {
	text, name, one := strings.Cut(text, "=")
	addr, err := proxyAddr(text)
	if err != nil {
		return messages.StartError(fmt.Sprintf("Invalid -proxy address or hostname: '%s'", text))
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
		return messages.StartError(fmt.Sprintf("Unrecognized network in -proxy='%s=%s': '%s'", text, name, name))
	}
	source.Proxies[network] = addr
	return nil
}

// proxyAddr reads "host[:port]" or "unix:path".
func proxyAddr(text string) (string, error) {
	if strings.HasPrefix(text, UnixProxy) {
		return text, nil
	}
	host, port, ok := netaddr.SplitHostPort(text, proxyPort)
	if !ok || host == "" || strings.ContainsAny(host, "/ @") {
		return "", netaddr.ErrSyntax
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port))), nil
}

// A Local is an address at which the node can be reached.
type Local struct {
	Addr  netaddr.Addr
	Score int // how sure that is
}

// LocalAddresses returns the addresses at which the node can be reached: those that the
// operator names and, with discover, those of its interfaces that are public.
//
// Errors: [messages.StartError].
func LocalAddresses(external []string, discover bool, port uint16, log *slog.Logger) ([]Local, error) {
	var list []Local
	for _, text := range external {
		a, err := netaddr.Parse(text, port)
		if err != nil {
			return nil, messages.StartError(fmt.Sprintf("Cannot resolve -externalip address: '%s'", text))
		}
		list = append(list, Local{Addr: a, Score: scoreManual})
	}
	if !discover {
		return list, nil
	}
	found, err := net.InterfaceAddrs()
	if err != nil {
		log.Warn("local addresses not found", "err", err)
		return list, nil
	}
	for _, at := range found {
		prefix, err := netip.ParsePrefix(at.String())
		if err != nil {
			continue
		}
		a := netaddr.FromAddrPort(netip.AddrPortFrom(prefix.Addr(), port))
		known := slices.ContainsFunc(list, func(l Local) bool { return l.Addr == a })
		if a.IsRoutable() && !known {
			list = append(list, Local{Addr: a, Score: scoreInterface})
		}
	}
	return list, nil
}
