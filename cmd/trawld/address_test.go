package main

import (
	"net"
	"net/netip"
	"testing"
)

// Programs on this machine are told the address that they reach.
func TestLocalAddress(t *testing.T) {
	for want, list := range map[string][]string{
		"127.0.0.1:8342":  {"[::1]:8342", "127.0.0.1:8342"},
		"[::1]:8342":      {"10.0.0.1:8342", "[::1]:8342"},
		"127.0.0.1:1":     {"10.0.0.1:8342", "0.0.0.0:1", "127.0.0.1:2"},
		"[::1]:7":         {"[::]:7"},
		"10.0.0.1:8342":   {"[2001:db8::1]:8342", "10.0.0.1:8342"},
		"[2001:db8::1]:1": {"[2001:db8::1]:1"},
		"":                nil,
	} {
		var addrs []net.Addr
		for _, text := range list {
			addrs = append(addrs, net.TCPAddrFromAddrPort(netip.MustParseAddrPort(text)))
		}
		if got := localAddress(addrs); got != want {
			t.Errorf("%v: %s, want %s", list, got, want)
		}
	}
}
