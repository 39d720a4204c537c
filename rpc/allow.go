package rpc

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// alwaysAllowed are the addresses of this machine.
var alwaysAllowed = []netaddr.Subnet{mustParse("127.0.0.0/8"), mustParse("::1")}

func mustParse(text string) netaddr.Subnet {
	subnet, err := netaddr.ParseSubnet(text)
	if err != nil {
		panic(err)
	}
	return subnet
}

// cjdns are the addresses of the CJDNS network.
var cjdns = netip.MustParsePrefix("fc00::/8")

// parseAllowed reads the -rpcallowip options. Addresses may have any spelling that peer
// addresses may have: 127.1 is 127.0.0.1. Where the node reaches CJDNS, an address of that
// network does not identify the caller.
func parseAllowed(entries []string, reachesCJDNS bool) ([]netaddr.Subnet, error) {
	allowed := alwaysAllowed[:len(alwaysAllowed):len(alwaysAllowed)]
	for _, entry := range entries {
		subnet, err := netaddr.ParseSubnet(entry)
		if err != nil || reachesCJDNS && isCJDNS(entry) {
			return nil, StartError("Invalid -rpcallowip subnet specification: " + entry + ". Valid values are" +
				" a single IP (e.g. 1.2.3.4), a network/netmask (e.g. 1.2.3.4/255.255.255.0)," +
				" a network/CIDR (e.g. 1.2.3.4/24), all ipv4 (0.0.0.0/0), or all ipv6 (::/0)." +
				" RFC4193 is allowed only if -cjdnsreachable=0.")
		}
		allowed = append(allowed, subnet)
	}
	return allowed, nil
}

// isCJDNS reports whether the address of a subnet is of the CJDNS network.
func isCJDNS(subnet string) bool {
	host, _, _ := strings.Cut(subnet, "/")
	addr, err := netaddr.ParseHost(host)
	ap, _ := addr.AddrPort()
	return err == nil && cjdns.Contains(ap.Addr())
}

// isAllowed reports whether the client may speak at all. The socket in the
// file system has its mode.
func (s *Server) isAllowed(r *http.Request) bool {
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && local.Network() == "unix" {
		return true
	}
	return isAllowed(s.allowed, r.RemoteAddr)
}

// isStrange reports whether a connection comes from where nobody may call.
func isStrange(allowed []netaddr.Subnet, c net.Conn) bool {
	from := c.RemoteAddr()
	return from.Network() != "unix" && !isAllowed(allowed, from.String())
}

// isAllowed reports whether a client at addr, with port, is in one of the
// networks.
func isAllowed(allowed []netaddr.Subnet, addr string) bool {
	ap, err := netip.ParseAddrPort(addr)
	if err != nil {
		return false
	}
	client := netaddr.FromAddrPort(netip.AddrPortFrom(ap.Addr().Unmap().WithZone(""), 0))
	for _, subnet := range allowed {
		if subnet.Contains(client) {
			return true
		}
	}
	return false
}
