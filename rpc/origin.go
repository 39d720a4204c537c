package rpc

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// fromElsewhere reports whether a web page makes the request that was not
// loaded from this server. Two things give it away: the page's Origin, and
// for a page whose name was made to lead here (DNS rebinding) that name in
// Host. No such name is an address or localhost.
func fromElsewhere(r *http.Request) bool {
	if !isOwnHost(r.Host) {
		return true
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return true
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return false
	}
	origin, err := url.Parse(origins[0])
	return len(origins) > 1 || err != nil || origin.Host == "" || !strings.EqualFold(origin.Host, r.Host)
}

// isOwnHost accepts what a client that was told where this server is has in
// its Host header: an address or localhost, with or without a port. Clients
// that send none are no browsers.
func isOwnHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	if host == "" || strings.EqualFold(host, "localhost") {
		return true
	}
	_, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil
}
