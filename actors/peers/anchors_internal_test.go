package peers

import (
	"slices"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/netsetup"
)

// Anchors are connected to before others, the last one first, but for those that the node
// would not choose; each once.
func TestAnchorsFirst(t *testing.T) {
	anchor := func(text string, full bool) codec.Address {
		a := codec.Address{Time: 7, Addr: address(t, text)}
		if full {
			a.Services = fullNode
		}
		return a
	}
	r := newDialRig(t, func(c *Config) {
		c.Reachable = map[netaddr.Network]bool{netaddr.IPv4: true, netaddr.IPv6: true}
		c.Local = []netsetup.Local{{Addr: address(t, "9.9.9.9:1")}}
		c.Anchors = []codec.Address{
			anchor("1.1.1.1:1", true),
			anchor("2.2.2.2:1", true), // of one group with the next
			anchor("2.2.3.3:1", true),
			anchor("3.3.3.3:1", false),
			anchor("9.9.9.9:1", true), // this node
			anchor("pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion:8333", true),
		}
	})
	r.networks.reachable = r.cfg.Reachable
	var got []string
	for range 3 {
		a := r.choose(time.Now())
		if a == nil || a.typ != p2p.BlockRelayOnly {
			break
		}
		got = append(got, a.addr.String())
		if a.seen != 7 || a.services != fullNode {
			t.Errorf("%v: %v, seen %d", a.addr, a.services, a.seen)
		}
		if err := r.begin(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"2.2.3.3:1", "1.1.1.1:1"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The anchors are the first maxAnchors block-relay-only peers.
func TestAnchorsKept(t *testing.T) {
	chosen := &attempt{services: fullNode, seen: 7}
	s := peerSet{
		{typ: p2p.OutboundFullRelay, addr: node(1), attempt: chosen},
		{typ: p2p.BlockRelayOnly, addr: node(2), attempt: chosen},
		{typ: p2p.Inbound, addr: node(3)},
		{typ: p2p.BlockRelayOnly, addr: node(4), attempt: &attempt{}},
		{typ: p2p.BlockRelayOnly, addr: node(5), attempt: chosen},
	}
	want := []codec.Address{{Time: 7, Services: fullNode, Addr: node(2)}, {Time: neverSeen, Addr: node(4)}}
	if got := s.anchors(); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

// Addresses of the node come and go, each once.
func TestLocalAddresses(t *testing.T) {
	l := localAddrs{}
	for range 2 {
		l.add(netsetup.Local{Addr: node(1)})
	}
	l.add(netsetup.Local{Addr: node(2)})
	l.remove(node(1))
	if len(l.list) != 1 || l.has(node(1)) || !l.has(node(2)) {
		t.Errorf("got %v", l.list)
	}
}

// Where the host reaches CJDNS, addresses in fc00::/8 are of that network.
func TestInCJDNS(t *testing.T) {
	for _, reached := range []bool{true, false} {
		r := newDialRig(t, func(c *Config) { c.Reachable = map[netaddr.Network]bool{netaddr.CJDNS: reached} })
		for text, want := range map[string]bool{"[fc00:1::2]:8": reached, "[fd00:1::2]:8": false, "1.2.3.4:8": false} {
			if got := r.numeric(text).Network() == netaddr.CJDNS; got != want {
				t.Errorf("%s, reached %t: %t", text, reached, got)
			}
		}
	}
}

// Nodes in I2P have port 0, other nodes that of the network.
func TestDefaultPort(t *testing.T) {
	r := newDialRig(t)
	const i2p = "zsxwyo6qcn3chqzwxnseusqgsnuw3maqnztkiypyfxtya4snkoka.b32.i2p"
	for node, want := range map[string]string{
		i2p: i2p + ":0", i2p + ":8333": i2p + ":8333", "1.2.3.4": "1.2.3.4:18444", "1.2.3.4:1": "1.2.3.4:1",
	} {
		if got := r.numeric(node).String(); got != want {
			t.Errorf("%s: %s", node, got)
		}
	}
}
