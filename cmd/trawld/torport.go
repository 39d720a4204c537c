package main

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/options"
)

// yieldTorPort leaves the port for Tor closed where the RPC server has it and no option names it, as qbit does:
// its ports for RPC and Tor lie side by side. Bitcoin Core's start fails then.
func (d *daemon) yieldTorPort(peers *trawl.PeerConfig) {
	if d.settings.Dialect() != dialectQbit || d.server == nil || peers == nil || !peers.Listen || len(peers.Bind) > 0 {
		return
	}
	port := cmp.Or(peers.Port, options.P2PPort(d.settings)) + 1
	at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
	if !takes(d.server.Addrs(), at) {
		return
	}
	peers.NoOnionBind, peers.TorControl = true, ""
	d.warn(fmt.Sprintf(
		"Skipping implicit onion bind on %v because it conflicts with an RPC bind on the same endpoint.", at))
}

// takes reports whether a program that listens at some addresses takes what comes to an address of IPv4.
func takes(listening []net.Addr, at netip.AddrPort) bool {
	for _, addr := range listening {
		a, err := netip.ParseAddrPort(addr.String())
		if err != nil || a.Port() != at.Port() {
			continue
		}
		// An RPC server that listens at all IPv6 addresses takes IPv4 connections, too.
		if ip := a.Addr().Unmap(); ip == at.Addr() || ip.IsUnspecified() {
			return true
		}
	}
	return false
}
