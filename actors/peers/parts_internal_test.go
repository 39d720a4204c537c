package peers

import (
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netsetup"
	"github.com/seed61375155/trawl/messages"
)

// The clock offset is the median over the outbound peers, if there are at least five.
func TestTimeOffset(t *testing.T) {
	for _, test := range []struct {
		offsets   []int // in seconds
		inbound   int   // peers besides, of an hour
		strangers int   // outbound peers that have not shaken hands
		want      int
	}{
		{nil, 9, 0, 0},
		{[]int{5, 5, 5, 5}, 9, 9, 0},
		{[]int{9, 1, 3, 2, 8}, 0, 0, 3},
		{[]int{9, 1, 3, 2, 8}, 9, 9, 3},
		{[]int{-4, -3, -2, -1, 6, 7}, 0, 0, -1},
	} {
		var s peerSet
		for _, seconds := range test.offsets {
			e := &entry{typ: p2p.OutboundFullRelay, established: true}
			e.remote.TimeOffset = time.Duration(seconds) * time.Second
			s = append(s, e)
		}
		for i := range test.inbound + test.strangers {
			e := &entry{typ: p2p.Inbound, established: true}
			if e.remote.TimeOffset = time.Hour; i >= test.inbound {
				e.typ, e.established = p2p.Manual, false
			}
			s = append(s, e)
		}
		if got := s.timeOffset(); got != time.Duration(test.want)*time.Second {
			t.Errorf("%+v: %v", test, got)
		}
	}
}

// How many connections of each kind there may be, of so many in all, and where the operator limits those that come.
func TestIncomingLimits(t *testing.T) {
	for _, test := range []struct {
		peers, incoming, relaying int
		want                      limits
	}{
		{125, 0, 0, limits{8, 2, 1, 114, 114}},
		{12, 0, 0, limits{8, 2, 1, 1, 1}},
		{11, 0, 0, limits{8, 2, 1, 0, 0}},
		{10, 0, 0, limits{8, 2, 1, 0, 0}},
		{9, 0, 0, limits{8, 1, 1, 0, 0}},
		{5, 0, 0, limits{5, 0, 1, 0, 0}},
		{125, 7, 0, limits{8, 2, 1, 7, 7}},
		{125, 7, 3, limits{8, 2, 1, 7, 3}},
		{125, 7, -1, limits{8, 2, 1, 7, 0}},
		{125, -1, 0, limits{8, 2, 1, 0, 0}},
	} {
		c := Config{MaxPeers: test.peers, MaxIncoming: test.incoming, MaxRelaying: test.relaying}
		if got := c.limits(); got != test.want {
			t.Errorf("%d, %d incoming: %+v", test.peers, test.incoming, got)
		}
	}
}

// Addresses of this node come and go with what leads peers to it, and each is listed once; a proxy that Tor names makes
// its network reachable.
func TestAddressesComeAndGo(t *testing.T) {
	network, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	sys := actortest.New(t)
	table := sys.Spawn("peers", New(Config{
		Network: network, Chain: new(chainview.Current), Log: sys.Log, MaxPeers: DefaultMaxPeers, OnionLate: true,
	}), Requests...)
	state := func() messages.NetworkState {
		got, err := ask.Ask(t.Context(), table, messages.GetNetwork{})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	to := mailbox{sys.Root, table.PID()}
	a, b := address(t, "9.9.9.9:1"), address(t, "8.8.8.8:2")
	to.AddLocal(netsetup.Local{Addr: a, Score: 1})
	to.Published(b)
	to.Published(b)
	if got := state().Local; len(got) != 2 || got[0].Host != "9.9.9.9" || got[0].Port != 1 || got[0].Score != 1 ||
		got[1].Host != "8.8.8.8" || got[1].Score != 4 {
		t.Errorf("listed: %+v", got)
	}
	to.Withdrawn(a)
	if got := state().Local; len(got) != 1 || got[0].Host != "8.8.8.8" {
		t.Errorf("left: %+v", got)
	}
	onion := func() (proxy string) {
		for _, n := range state().Networks {
			if n.Name == "onion" {
				proxy = n.Proxy
			}
		}
		return proxy
	}
	before := onion()
	to.Proxied(address(t, "127.0.0.1:9050"))
	if got := onion(); before != "" || got != "127.0.0.1:9050" {
		t.Errorf("the proxy is %q, before %q", got, before)
	}
}

// Addresses that were queued for a peer before it asks for addresses are not a part of the answer.
func TestAnswerReplacesTheQueue(t *testing.T) {
	r := newAddrRig(t)
	var waits *addrPeer
	l := r.add(1, p2p.Inbound, func(p *addrPeer) { waits = p })
	waits.enable()
	waits.push(codec.Address{Time: uint32(r.now.Unix()), Services: fullNode, Addr: node(5)})
	r.receive(1, new(wire.MsgGetAddr))
	r.now = r.now.Add(time.Hour)
	r.sendDue()
	if len(l.got) > 0 {
		t.Errorf("sent %v", l.got)
	}
}
