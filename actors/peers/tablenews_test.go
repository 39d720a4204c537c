package peers_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/messages"
)

// Subscribers are notified of peers after their handshake and when they leave. A peer can be disconnected by
// its number.
func TestEventsOfPeers(t *testing.T) {
	var news ask.Feed[messages.PeerChanged]
	inbox := make(chan messages.PeerChanged, 10)
	listens := make(chan struct{})
	listener := actor.ReceiveFunc(func(c actor.Context) {
		switch m := c.Message().(type) {
		case *actor.Started:
			news.Subscribe(c)
			close(listens)
		case messages.PeerChanged:
			inbox <- m
		}
	})
	actortest.New(t).Spawn("listener", func() actor.Actor { return listener })
	<-listens
	n := start(t, func(c *peers.Config) { c.News = &news })
	r, name := connect(t, n)
	want := messages.PeerChanged{ID: 0, Addr: name, Inbound: true, Connected: true}
	if got := <-inbox; got != want {
		t.Errorf("received %+v", got)
	}
	must(t, n, messages.DisconnectPeer{ID: new(int64)})
	left(t, r, "by its number")
	want.Connected = false
	if got := <-inbox; got != want {
		t.Errorf("received %+v", got)
	}
}

// All peers are pinged upon request.
func TestPingsAll(t *testing.T) {
	n := start(t)
	first, _ := connect(t, n)
	second, _ := connect(t, n)
	n.eventually(t, "both are pinged at first", func(list []messages.PeerInfo) bool {
		return len(list) == 2 && list[0].Pinged && list[1].Pinged
	})
	before := make([]uint64, 2)
	for i, p := range must(t, n, messages.GetPeers{}) {
		before[i] = p.SentBy[wire.CmdPing]
	}
	must(t, n, messages.PingPeers{})
	n.eventually(t, "both are pinged again", func(list []messages.PeerInfo) bool {
		return list[0].SentBy[wire.CmdPing] > before[0] && list[1].SentBy[wire.CmdPing] > before[1]
	})
	first.Close(nil)
	second.Close(nil)
	n.peersOf(t, 0)
}

// A node that is connected to for no more than to know whether it is there is left at once, and is known then.
func TestFeeler(t *testing.T) {
	a, b := start(t), start(t)
	must(t, a, messages.ConnectPeer{Node: b.addr, Type: "feeler"})
	a.peersOf(t, 0)
	b.peersOf(t, 0)
	must(t, a, messages.ConnectPeer{Node: b.addr, Type: "block-relay-only"})
	if got := a.peersOf(t, 1)[0]; got.Type != "block-relay-only" || got.RelayTxs {
		t.Errorf("got %+v", got)
	}
}

// So many connections of a type may be made by request, and none of a type that there is not.
func TestSlots(t *testing.T) {
	n := start(t, func(c *peers.Config) { c.MaxPeers = 2 })
	other := []*node{start(t), start(t), start(t)}
	for i, typ := range []string{"outbound-full-relay", "outbound-full-relay"} {
		must(t, n, messages.ConnectPeer{Node: other[i].addr, Type: typ})
	}
	n.peersOf(t, 2)
	for _, typ := range []string{"outbound-full-relay", "block-relay-only", "nonsense"} {
		_, err := ask.Ask(t.Context(), n.Ref, messages.ConnectPeer{Node: other[2].addr, Type: typ})
		if !errors.Is(err, messages.ErrNoSlot) {
			t.Errorf("%s: %v", typ, err)
		}
	}
	must(t, n, messages.ConnectPeer{Node: other[2].addr}) // by hand
	if got := n.peersOf(t, 3)[2]; got.Type != "manual" {
		t.Errorf("got %+v", got)
	}
	if got := must(t, n, messages.CountPeers{}); got != (messages.PeerCount{Out: 3}) {
		t.Errorf("counted %+v", got)
	}
}

// Where no address is known after a minute, those that are built in are taken.
func TestFixedSeeds(t *testing.T) {
	seed, err := netaddr.Parse("5.5.5.5:18444", 0)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		wish func(c *peers.Config)
		want []bool // soon, and after a minute
	}{
		"in time":     {func(*peers.Config) {}, []bool{false, true}},
		"no seeds":    {func(c *peers.Config) { c.NoSeeds = true }, []bool{true, true}},
		"not to find": {func(c *peers.Config) { c.Automatic = false }, []bool{false, false}},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := bubbleNode(t, new(directory), func(c *peers.Config) {
				c.Automatic, c.FixedSeeds = true, []netaddr.Addr{seed}
				test.wish(c)
			})
			for i, wait := range []time.Duration{0, 56 * time.Second} {
				time.Sleep(wait)
				synctest.Wait()
				list := must(t, n, messages.GetNodeAddresses{})
				got := slices.ContainsFunc(list, func(a messages.NodeAddress) bool { return a.Host == "5.5.5.5" })
				if got != test.want[i] {
					t.Errorf("%s, %d: known %v", name, i, got)
				}
				if got {
					return // connecting to it is not what this is about
				}
			}
		})
	}
}
