package rpc

import (
	"math/bits"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// alwaysAllowed are the addresses of this machine.
var alwaysAllowed = []netip.Prefix{
	netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("::1/128"),
}

// cjdns are the addresses of the CJDNS network.
var cjdns = netip.MustParsePrefix("fc00::/8")

// parseAllowed reads the -rpcallowip options. Where the node reaches CJDNS an
// address of that network does not tell who calls.
func parseAllowed(entries []string, reachesCJDNS bool) ([]netip.Prefix, error) {
	allowed := alwaysAllowed[:len(alwaysAllowed):len(alwaysAllowed)]
	for _, entry := range entries {
		p, ok := parseSubnet(entry)
		if !ok || reachesCJDNS && cjdns.Contains(p.Addr()) {
			return nil, StartError("Invalid -rpcallowip subnet specification: " + entry + ". Valid values are" +
				" a single IP (e.g. 1.2.3.4), a network/netmask (e.g. 1.2.3.4/255.255.255.0)," +
				" a network/CIDR (e.g. 1.2.3.4/24), all ipv4 (0.0.0.0/0), or all ipv6 (::/0)." +
				" RFC4193 is allowed only if -cjdnsreachable=0.")
		}
		allowed = append(allowed, p)
	}
	return allowed, nil
}

// parseSubnet reads an address, address/bits or, for IPv4, address/netmask. An
// IPv6 address may stand between brackets.
func parseSubnet(s string) (netip.Prefix, bool) {
	if inner, rest, ok := strings.Cut(strings.TrimPrefix(s, "["), "]"); ok && s[0] == '[' &&
		strings.Contains(inner, ":") {
		s = inner + rest
	}
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.Masked(), true
	}
	host, mask, hasMask := strings.Cut(s, "/")
	addr, err := netip.ParseAddr(host)
	if err != nil || addr.Zone() != "" {
		return netip.Prefix{}, false
	}
	if !hasMask {
		return netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), true
	}
	m, err := netip.ParseAddr(mask)
	if err != nil || !m.Is4() || !addr.Is4() {
		return netip.Prefix{}, false
	}
	b := m.As4()
	word := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	ones := bits.LeadingZeros32(^word)
	if word<<ones != 0 { // a hole in the mask
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(addr, ones).Masked(), true
}

// isAllowed reports whether the client may speak at all. The socket in the
// file system has its mode.
func (s *Server) isAllowed(r *http.Request) bool {
	if local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok && local.Network() == "unix" {
		return true
	}
	return isAllowed(s.allowed, r.RemoteAddr)
}

// isAllowed reports whether a client at addr, with port, is in one of the
// networks.
func isAllowed(allowed []netip.Prefix, addr string) bool {
	ap, err := netip.ParseAddrPort(addr)
	if err != nil {
		return false
	}
	client := ap.Addr().Unmap().WithZone("")
	for _, p := range allowed {
		if p.Contains(client) {
			return true
		}
	}
	return false
}
