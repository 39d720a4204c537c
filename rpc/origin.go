package rpc

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// hosts are the names, in lower case, that lead to a server by the operator's word. Its addresses
// and localhost do without that.
type hosts []string

// parseHosts reads the -rpcallowhost options.
func parseHosts(entries []string) (hosts, error) {
	var all hosts
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
func (h hosts) own(host string) bool {
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
func fromElsewhere(r *http.Request, known hosts) bool {
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

// isBrowser reports whether a browser makes the request, which may do so for a page of anybody.
func isBrowser(r *http.Request) bool {
	for name := range r.Header {
		if strings.HasPrefix(name, "Sec-Fetch-") {
			return true
		}
	}
	return slices.ContainsFunc(r.Header.Values("User-Agent"), func(agent string) bool {
		return strings.HasPrefix(agent, "Mozilla/")
	})
}
