// Package netsetup reads the operator's options of the peer-to-peer network: where to
// accept peers, the proxies to reach peers, permissions, and the node's own addresses.
// Texts of errors are Core's.
package netsetup

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/messages"
)

const (
	// proxyPort is that of a SOCKS5 proxy which names none: Tor's. samPort is that of an
	// I2P router.
	proxyPort = 9050
	samPort   = 7656

	// Scores of local addresses, as Core counts: of an interface, and named by the
	// operator.
	scoreInterface = 1
	scoreBound     = 2
	scoreManual    = 4
)

// Ways say how networks are reached.
type Ways struct {
	// Proxy are SOCKS5 proxies, "host[:port]" or "unix:path" for all networks, with
	// "=network" for one; "0" for none.
	Proxy []string

	Onion     string   // that for Tor
	NoOnion   bool     // do not reach Tor through Proxy either
	TorLater  bool     // Tor says later where its proxy is
	I2P       string   // the SAM bridge of an I2P router, "host[:port]"; empty: none
	CJDNS     bool     // the host reaches the CJDNS network
	Randomize bool     // other credentials for each connection
	OnlyNet   []string // names of the networks to connect to; empty: all that can be reached
	Lookup    bool     // look up names of proxies
	OnlyOnion bool     // Tor has the name onion alone, not tor
}

// Networks says which networks are reached, and through which proxies.
type Networks struct {
	Proxies   map[netaddr.Network]Proxy
	Names     Proxy // for names
	Reachable map[netaddr.Network]bool
	OnionLate bool // Tor is reached as soon as it says where its proxy is
}

// Reach reads how networks are reached.
//
// Errors: [messages.StartError].
func Reach(ctx context.Context, w Ways) (Networks, error) {
	n := Networks{Proxies: make(map[netaddr.Network]Proxy), Reachable: make(map[netaddr.Network]bool)}
	only, err := w.only()
	if err != nil {
		return n, err
	}
	allowed := func(network netaddr.Network) bool { return len(only) == 0 || only[network] }
	if only[netaddr.CJDNS] && !w.CJDNS {
		return n, messages.StartError("Outbound connections restricted to CJDNS (-onlynet=cjdns) but " +
			"-cjdnsreachable is not provided")
	}
	for _, text := range w.Proxy {
		if err := n.addProxy(ctx, w, text); err != nil {
			return n, err
		}
	}
	if err := n.addOnion(ctx, w, only[netaddr.Onion]); err != nil {
		return n, err
	}
	if err := n.addI2P(ctx, w, only[netaddr.I2P]); err != nil {
		return n, err
	}
	n.OnionLate = w.TorLater && allowed(netaddr.Onion)
	n.Reachable[netaddr.IPv4], n.Reachable[netaddr.IPv6] = allowed(netaddr.IPv4), allowed(netaddr.IPv6)
	n.Reachable[netaddr.Onion] = allowed(netaddr.Onion) && n.Proxies[netaddr.Onion].Addr != ""
	n.Reachable[netaddr.I2P] = allowed(netaddr.I2P) && n.Proxies[netaddr.I2P].Addr != ""
	n.Reachable[netaddr.CJDNS] = allowed(netaddr.CJDNS) && w.CJDNS
	return n, nil
}

// only reads the networks to connect to.
func (w *Ways) only() (map[netaddr.Network]bool, error) {
	only := make(map[netaddr.Network]bool)
	for _, name := range w.OnlyNet {
		network, ok := w.parseNetwork(name)
		if !ok {
			return nil, messages.StartError(fmt.Sprintf("Unknown network specified in -onlynet: '%s'", name))
		}
		only[network] = true
	}
	return only, nil
}

// parseNetwork reads the name of a network as the operator writes it.
func (w *Ways) parseNetwork(name string) (netaddr.Network, bool) {
	name = strings.ToLower(name)
	if name == "tor" && !w.OnlyOnion {
		return netaddr.Onion, true
	}
	return netaddr.ParseNetwork(name)
}

// addProxy reads "host[:port][=network]".
func (n *Networks) addProxy(ctx context.Context, w Ways, text string) error {
	at, name, one := text, "", false
	if i := strings.LastIndexByte(text, '='); i >= 0 {
		at, name, one = text[:i], text[i+1:], true
	}
	if one && name == "" {
		return messages.StartError(fmt.Sprintf("Invalid -proxy address or hostname, ends with '=': '%s'", text))
	}
	var proxy Proxy
	if at != "" && at != "0" {
		addr, ok := resolve(ctx, at, proxyPort, w.Lookup)
		if !ok {
			return messages.StartError(fmt.Sprintf("Invalid -proxy address or hostname: '%s'", at))
		}
		proxy = Proxy{addr, w.Randomize}
	}
	if !one {
		for _, network := range []netaddr.Network{netaddr.IPv4, netaddr.IPv6, netaddr.Onion, netaddr.CJDNS} {
			n.Proxies[network] = proxy
		}
		n.Names = proxy
		return nil
	}
	network, ok := w.parseNetwork(name)
	if !ok || network == netaddr.I2P {
		return messages.StartError(
			fmt.Sprintf("Unrecognized network in -proxy='%s': '%s'", text, strings.ToLower(name)))
	}
	n.Proxies[network] = proxy
	if network == netaddr.IPv4 || network == netaddr.IPv6 {
		n.Names = proxy
	}
	return nil
}

// addOnion reads the proxy for Tor; only says that the operator wants that network.
func (n *Networks) addOnion(ctx context.Context, w Ways, only bool) error {
	const restricted = "Outbound connections restricted to Tor (-onlynet=onion) but the proxy for " +
		"reaching the Tor network is "
	switch {
	case w.NoOnion:
		delete(n.Proxies, netaddr.Onion)
		if only {
			return messages.StartError(restricted + "explicitly forbidden: -onion=0")
		}
	case w.Onion != "":
		addr, ok := resolve(ctx, w.Onion, proxyPort, w.Lookup)
		if !ok {
			return messages.StartError(fmt.Sprintf("Invalid -onion address or hostname: '%s'", w.Onion))
		}
		n.Proxies[netaddr.Onion] = Proxy{addr, w.Randomize}
	}
	if only && n.Proxies[netaddr.Onion].Addr == "" && !w.TorLater {
		return messages.StartError(restricted + "not provided: none of -proxy, -onion or -listenonion is given")
	}
	return nil
}

// addI2P reads the router for I2P; only says that the operator wants that network.
func (n *Networks) addI2P(ctx context.Context, w Ways, only bool) error {
	if w.I2P == "" {
		if only {
			return messages.StartError("Outbound connections restricted to i2p (-onlynet=i2p) but " +
				"-i2psam is not provided")
		}
		return nil
	}
	addr, ok := resolve(ctx, w.I2P, samPort, w.Lookup)
	if !ok || strings.HasPrefix(addr, UnixProxy) {
		return messages.StartError(fmt.Sprintf("Invalid -i2psam address or hostname: '%s'", w.I2P))
	}
	n.Proxies[netaddr.I2P] = Proxy{Addr: addr}
	return nil
}

// longestUnix is how long the path of a socket may be, in bytes, as the system has it.
const longestUnix = 107

// resolve returns the address of "host[:port]", which is looked up where it is a name and
// lookup is set, or "unix:path" as it is.
func resolve(ctx context.Context, text string, defaultPort uint16, lookup bool) (string, bool) {
	if path, ok := strings.CutPrefix(text, UnixProxy); ok && len(path) <= longestUnix {
		return text, true
	}
	host, port, ok := netaddr.SplitHostPort(text, defaultPort)
	if !ok || host == "" {
		return "", false
	}
	if a, err := netaddr.ParseHost(host); err == nil {
		_, direct := a.AddrPort()
		return a.WithPort(port).String(), direct && a.IsValid()
	}
	if !lookup || strings.ContainsAny(host, "/ @") {
		return "", false
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(found) == 0 {
		return "", false
	}
	return netip.AddrPortFrom(found[0].Unmap(), port).String(), true
}

// A Local is an address at which the node can be reached.
type Local struct {
	Addr  netaddr.Addr
	Score int // how sure that is
}

// LocalAddresses returns the addresses at which the node can be reached. It returns the
// addresses that the operator names. With discover it adds the public addresses that the
// node is bound to, or, if no address to bind is set, the public addresses of all
// interfaces.
//
// Errors: [messages.StartError].
func LocalAddresses(external []string, discover bool, binds Binds, log *slog.Logger) ([]Local, error) {
	bound, port := binds.announced()
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
	if len(binds.Bind)+len(binds.Whitebind) > 0 {
		for _, a := range bound {
			if a.IsRoutable() && !knows(list, a) {
				list = append(list, Local{Addr: a, Score: scoreBound})
			}
		}
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
		if a.IsRoutable() && !knows(list, a) {
			list = append(list, Local{Addr: a, Score: scoreInterface})
		}
	}
	return list, nil
}

func knows(list []Local, a netaddr.Addr) bool {
	return slices.ContainsFunc(list, func(l Local) bool { return l.Addr == a })
}
