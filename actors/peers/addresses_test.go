package peers_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/nodefiles"
)

// listed returns a message with addresses of nodes.
func listed(count, salt int) *codec.Addresses {
	m := &codec.Addresses{V2: true}
	for i := range count {
		ip := netip.AddrFrom4([4]byte{byte(11 + i%80), byte(salt), byte(i / 80), byte(i%250 + 1)})
		m.List = append(m.List, codec.Address{
			Time: uint32(time.Now().Unix()), Services: wire.SFNodeNetwork,
			Addr: netaddr.FromAddrPort(netip.AddrPortFrom(ip, 8333)),
		})
	}
	return m
}

func counts(t *testing.T, n *node) messages.AddressCount {
	t.Helper()
	list := must(t, n, messages.CountAddresses{})
	return list[len(list)-1]
}

// A flood of addresses is cut down, and the peer may stay.
func TestAddressFlood(t *testing.T) {
	n := start(t)
	r, _ := connect(t, n)
	for salt := range 20 {
		if err := r.Send(listed(1000, salt)); err != nil {
			t.Fatal(err)
		}
	}
	// One at once, and one every ten seconds.
	n.eventually(
		t, "all is taken",
		func(p []messages.PeerInfo) bool { return p[0].AddrLimited >= 19_990 && p[0].AddrProcessed >= 1 },
	)
	if got := counts(t, n); got.New > 10 {
		t.Errorf("%d addresses", got.New)
	}
	if err := r.Send(listed(1001, 30)); err != nil {
		t.Fatal(err)
	}
	left(t, r, "too many addresses in a message")
}

// Addresses outlive the node, and are told on request, once.
func TestAddressesAreKept(t *testing.T) {
	dir := t.TempDir()
	kept := func(c *peers.Config) {
		c.Dir = dir
		var err error
		files := nodefiles.Files{Dir: dir}
		if c.Addrs, err = files.OpenAddrs(c.Network.Magic, slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
	}
	n := start(t, kept)
	for i := range 100 {
		must(t, n, messages.AddPeerAddress{Host: fmt.Sprintf("%d.1.2.3", 11+i), Port: 8333, Tried: i%2 == 0})
	}
	before := counts(t, n)
	if before.New+before.Tried < 90 {
		t.Errorf("got %+v", before)
	}
	if err := n.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	n = start(t, kept)
	if got := counts(t, n); got != before {
		t.Errorf("had %+v, have %+v", before, got)
	}
	r, _ := connect(t, n) // asks by itself
	for {
		select {
		case m := <-r.inbox:
			if list, ok := m.Message.(*codec.Addresses); ok {
				if got := len(list.List); got != (before.New+before.Tried)*23/100 {
					t.Errorf("got %d addresses", got)
				}
				return
			}
		case <-time.After(patience):
			t.Fatal("no answer")
		}
	}
}

// A world is nodes at made-up addresses.
type world struct {
	nodes map[string]string // where they are
	names map[string][]netip.Addr
}

func (w *world) Dial(ctx context.Context, addr string) (net.Conn, error) {
	at, ok := w.nodes[addr]
	if !ok {
		return nil, errors.New("nobody there")
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", at)
}

func (w *world) Lookup(_ context.Context, host string) ([]netip.Addr, error) {
	return w.names[host], nil
}

// A node without known addresses asks a DNS seed and connects to the addresses from it, at most
// once per group of addresses.
func TestFindsPeers(t *testing.T) {
	w := &world{nodes: make(map[string]string), names: make(map[string][]netip.Addr)}
	for i := range 3 {
		other := start(t)
		for _, host := range []string{fmt.Sprintf("%d.0.0.1", 20+i), fmt.Sprintf("%d.0.0.2", 20+i)} {
			w.nodes[host+":18444"] = other.addr
			w.names["x9.seed.test"] = append(w.names["x9.seed.test"], netip.MustParseAddr(host))
		}
	}
	n := start(t, func(c *peers.Config) {
		c.Source, c.Automatic, c.Seeds = w, true, []string{"seed.test"}
	})
	list := n.peersOf(t, 3)
	for _, p := range list {
		if p.Type != "outbound-full-relay" || p.Network != "ipv4" {
			t.Errorf("got %+v", p)
		}
	}
	if got := counts(t, n); got.Tried != 3 {
		t.Errorf("got %+v", got)
	}
}

// Without network nobody is connected, and nobody gets in.
func TestNetworkInactive(t *testing.T) {
	n := start(t)
	r, _ := connect(t, n)
	must(t, n, messages.SetNetworkActive{})
	left(t, r, "inactive")
	knock(t, n)
	must(t, n, messages.ConnectPeer{Node: n.addr})
	n.peersOf(t, 0)
	must(t, n, messages.SetNetworkActive{Active: true})
	connect(t, n)
}

// The node recognizes itself.
func TestSelf(t *testing.T) {
	n := start(t)
	must(t, n, messages.ConnectPeer{Node: n.addr})
	n.peersOf(t, 0)
}
