package peers

import (
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/netsetup"
)

const hiddenService = "pg6mmjiyjmcrsslvykfwnntlaru7p5svn6y2ymmju6nubxndf4pscryd.onion:8333"

// newPrivateDialRig is a dialer with proxies for some networks.
func newPrivateDialRig(t *testing.T, networks ...netaddr.Network) *dialRig {
	t.Helper()
	r := newDialRig(t)
	r.networks.proxies = make(map[netaddr.Network]netsetup.Proxy)
	for _, n := range networks {
		r.networks.proxies[n] = netsetup.Proxy{Addr: "127.0.0.1:9050"}
	}
	return r
}

// Connections are made where nobody sees who makes them: in Tor and I2P, and in the open Internet behind a proxy that
// was seen to be Tor's.
func TestPrivateNetworks(t *testing.T) {
	for _, test := range []struct {
		proxies  []netaddr.Network
		torWorks bool
		want     []netaddr.Network
	}{
		{nil, true, nil},
		{[]netaddr.Network{netaddr.I2P}, true, []netaddr.Network{netaddr.I2P}},
		{[]netaddr.Network{netaddr.Onion}, false, []netaddr.Network{netaddr.Onion}},
		{[]netaddr.Network{netaddr.Onion}, true, []netaddr.Network{netaddr.Onion, netaddr.IPv4, netaddr.IPv6}},
		{[]netaddr.Network{netaddr.Onion, netaddr.I2P}, false, []netaddr.Network{netaddr.Onion, netaddr.I2P}},
	} {
		r := newPrivateDialRig(t, test.proxies...)
		if got := r.privateNetworks(test.torWorks); !slices.Equal(got, test.want) {
			t.Errorf("%v, Tor works %v: %v, want %v", test.proxies, test.torWorks, got, test.want)
		}
	}
}

// Of the networks that hide, addresses are chosen that are no local ones, not this node's, not banned, and not
// connected to.
func TestPrivateChoice(t *testing.T) {
	onion := []netaddr.Network{netaddr.Onion}
	know := func(r *dialRig, text string) netaddr.Addr {
		t.Helper()
		a := address(t, text)
		now := r.addrs.now
		r.book.addrs.Add(codec.Address{Addr: a, Time: uint32(now.Unix()), Services: wire.SFNodeNetwork}, a, 0, now)
		return a
	}
	r := newPrivateDialRig(t, onion...)
	know(r, "8.8.8.8:8333")
	if a := r.choosePrivate(onion); a != nil {
		t.Errorf("in another network: %v", a.name())
	}
	at := know(r, hiddenService)
	got := r.choosePrivate(onion)
	if got == nil || got.addr != at || got.typ != p2p.PrivateBroadcast {
		t.Fatalf("chose %+v", got)
	}
	if err := r.begin(t.Context(), got); err != nil {
		t.Fatal(err)
	}
	if a := r.choosePrivate(onion); a != nil {
		t.Error("an address that is connected to is chosen again")
	}
	if err := r.end(got, false); err == nil {
		t.Fatal("connected to nobody")
	}
	r.bans = everyone{}
	if a := r.choosePrivate(onion); a != nil {
		t.Error("a banned address is chosen")
	}
}

// everyone is unwelcome.
type everyone struct{}

func (everyone) isUnwelcome(netaddr.Addr, time.Time) bool { return true }

// A transaction that the network sends back is handed over no more. Other transactions change nothing.
func TestPrivateSentBack(t *testing.T) {
	s := newPrivateSender(newDialRig(t).base)
	for i := range 2 {
		if _, err := s.queue.add(numbered(i), time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
	}
	s.sentBack(sentBack{numbered(7), "peer=0"})
	if len(s.queue.list) != 2 || s.queue.wanted != 6 {
		t.Errorf("after another: %d, %d wanted", len(s.queue.list), s.queue.wanted)
	}
	s.sentBack(sentBack{numbered(0), "peer=0"})
	if len(s.queue.list) != 1 || s.queue.list[0].ID != numbered(1).TxHash() || s.queue.wanted != 3 {
		t.Errorf("after one of them: %d, %d wanted", len(s.queue.list), s.queue.wanted)
	}
}

// A connection that was made is wanted no more. After a failure another is wanted.
func TestPrivateDialed(t *testing.T) {
	s := newPrivateSender(newDialRig(t).base)
	s.queue.wanted = 1
	a := &attempt{addr: address(t, hiddenService), typ: p2p.PrivateBroadcast}
	for _, step := range []struct {
		err    error
		wanted int
	}{{errConnected, 1}, {nil, 0}, {nil, 0}, {errConnected, 0}} {
		if s.dialed(a, step.err); s.queue.wanted != step.wanted {
			t.Errorf("%v: %d wanted, want %d", step.err, s.queue.wanted, step.wanted)
		}
	}
}

// A connection ends that has nothing to hand over, or whose peer asks for something else than it was offered.
func TestPrivateEndsInVain(t *testing.T) {
	other := numbered(7).TxHash()
	for _, test := range []struct {
		name    string
		offered bool
		ask     []*wire.InvVect // nil: it has not asked yet
		ends    bool
	}{
		{name: "nothing to hand over", ends: true},
		{name: "offered", offered: true},
		{name: "asks without an offer", ask: []*wire.InvVect{{Type: wire.InvTypeTx}}, ends: true},
		{name: "another", offered: true, ask: []*wire.InvVect{{Type: wire.InvTypeTx, Hash: other}}, ends: true},
		{name: "asks for nothing", offered: true, ask: []*wire.InvVect{}, ends: true},
	} {
		table := newTable(t, func(c *Config) { c.Private = true })
		table.enter(1)
		e := table.peers[0]
		e.typ, e.id = p2p.PrivateBroadcast, 1
		if test.offered {
			if _, err := table.private.queue.add(numbered(0), time.Unix(1, 0)); err != nil {
				t.Fatal(err)
			}
		}
		if test.offered || test.ask == nil {
			table.privateJoined(e)
		}
		if test.ask != nil {
			table.private.handOver(e, &wire.MsgGetData{InvList: test.ask})
		}
		if e.conn.isClosed() != test.ends {
			t.Errorf("%s: ended %v", test.name, !test.ends)
		}
	}
}
