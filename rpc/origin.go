package rpc

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Hosts are the names, in lower case, that lead to a server by the operator's word. Its addresses
// and localhost do without that.
type Hosts []string

// ParseHosts reads the -rpcallowhost options. The error is a [StartError].
func ParseHosts(entries []string) (Hosts, error) {
	var all Hosts
	for _, entry := range entries {
		name := strings.ToLower(strings.TrimSpace(entry))
		if name == "" || strings.ContainsAny(name, " \t,/:@?#*[]%") {
			return nil, StartError(fmt.Sprintf("Invalid -rpcallowhost: '%s'. Valid values are names, as in "+
				"node.example, without scheme and port.", entry))
		}
		all = append(all, name)
	}
	return all, nil
}

// own accepts what a client that was told where this server is has in its Host header: an
// address, localhost or a name of the operator's, with or without a port. Clients that send none
// are no browsers.
func (h Hosts) own(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "" || strings.EqualFold(host, "localhost") || slices.Contains(h, strings.ToLower(host)) {
		return true
	}
	_, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil
}

// fromElsewhere reports whether a web page makes the request that was not
// loaded from this server. Two things give it away: the page's Origin, and
// for a page whose name was made to lead here (DNS rebinding) that name in
// Host. No such name is an address or localhost.
func fromElsewhere(r *http.Request, known Hosts) bool {
	if !known.own(r.Host) {
		return true
	}
	for _, site := range r.Header.Values("Sec-Fetch-Site") {
		if site != "" && site != "same-origin" && site != "none" {
			return true
		}
	}
	origins := r.Header.Values("Origin")
	return len(origins) > 0 && !isOrigin(origins, r.Host)
}

// isOrigin reports whether the values of an Origin header name one origin, that of a host: as a browser writes it,
// which is a scheme and the host alone. Either scheme will do, since a proxy may speak TLS for this server.
func isOrigin(origins []string, host string) bool {
	if len(origins) != 1 {
		return false
	}
	for _, scheme := range []string{"http://", "https://"} {
		if name, ok := strings.CutPrefix(origins[0], scheme); ok {
			return name != "" && strings.EqualFold(name, host)
		}
	}
	return false
}

// fromBrowser reports whether a browser may have made the request, for a page of anybody. The file docs/rpc-server.md
// has the parts of the rule, and the attack that each of them stops.
func fromBrowser(r *http.Request) bool {
	h := r.Header
	switch {
	case len(h["Origin"]) > 0 || len(h["Sec-Fetch-Site"]) > 0:
		return true
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return false // browsers have an Origin with these
	case len(h["Sec-Fetch-Mode"]) > 0:
		return false // which browsers send together with the site
	case r.TLS == nil && offersBrotli(h["Accept-Encoding"]):
		return false // which browsers do to no name without TLS
	}
	return len(h["Accept-Language"]) > 0 || slices.ContainsFunc(h["User-Agent"], func(agent string) bool {
		return strings.HasPrefix(agent, "Mozilla/5.0") && !strings.Contains(agent, "PowerShell/")
	})
}

// offersBrotli reads the values of Accept-Encoding headers.
func offersBrotli(accepted []string) bool {
	for coding := range strings.SplitSeq(strings.Join(accepted, ","), ",") {
		name, _, _ := strings.Cut(coding, ";")
		if strings.EqualFold(strings.TrimSpace(name), "br") {
			return true
		}
	}
	return false
}

// Refuses reports whether a browser may have made the request for a page that was not loaded from this server, or under
// a name that anybody may have led here.
func (h Hosts) Refuses(r *http.Request) bool {
	return fromBrowser(r) && (r.Host == "" || fromElsewhere(r, h))
}

// cameFrom is what a request says of where it comes from, for the log.
func cameFrom(r *http.Request) string {
	var text strings.Builder
	text.WriteString("Host " + shown(withoutUser(r.Host)))
	for _, name := range []string{"Origin", "Sec-Fetch-Site"} {
		if values := r.Header[name]; len(values) > 0 {
			text.WriteString(", " + name + " " + shown(withoutUser(strings.Join(values, ", "))))
		}
	}
	return text.String()
}

// withoutUser returns a host, or an origin, without the name and password that do not belong there.
func withoutUser(host string) string { return host[strings.LastIndexByte(host, '@')+1:] }
