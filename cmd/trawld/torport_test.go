package main

import (
	"net"
	"net/netip"
	"testing"
)

// The RPC server has the port for Tor where it listens at that address, or at all addresses.
func TestRPCServerTakesTorPort(t *testing.T) {
	at := netip.MustParseAddrPort("127.0.0.1:8356")
	for listening, want := range map[string]bool{
		"127.0.0.1:8356": true,
		"0.0.0.0:8356":   true,
		"[::]:8356":      true,
		"127.0.0.1:8352": false,
		"[::]:8352":      false,
		"127.0.0.2:8356": false,
		"[::1]:8356":     false,
	} {
		addr, err := net.ResolveTCPAddr("tcp", listening)
		if err != nil {
			t.Fatal(err)
		}
		if got := takes([]net.Addr{&net.TCPAddr{IP: net.IPv6loopback, Port: 1}, addr}, at); got != want {
			t.Errorf("%s: got %v, want %v", listening, got, want)
		}
	}
	if takes([]net.Addr{&net.UnixAddr{Name: "8356"}}, at) {
		t.Error("a socket in the file system has no port")
	}
}
