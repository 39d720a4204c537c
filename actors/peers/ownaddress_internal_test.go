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

// Where it is the network's way, the address of this node goes out by itself and before all others when a peer
// joins, and later together with others.
func TestOwnAddressFirst(t *testing.T) {
	for _, first := range []bool{false, true} {
		r := newAddrRig(t, func(c *Config) {
			c.Listeners = make([]netsetup.Listener, 1)
			c.Local = []netsetup.Local{{Addr: address(t, "9.9.9.9:2"), Score: 1}}
			c.Network.Traffic.OwnAddressFirst = first
		})
		for n := range 100 {
			a := codec.Address{Time: uint32(r.now.Unix()), Services: wire.SFNodeNetwork, Addr: node(n)}
			r.book.store([]codec.Address{a}, a.Addr, 0)
		}
		own := address(t, "9.9.9.9:2")
		l := r.add(1, p2p.Inbound)
		r.receive(1, new(wire.MsgGetAddr))
		want := [][]netaddr.Addr{{own}, l.got[1:]}
		if !first {
			want = [][]netaddr.Addr{l.got}
		}
		if len(l.messages) != len(want) || !slices.Equal(l.messages[0], want[0]) || !slices.Contains(l.got, own) ||
			len(l.got) < 5 {
			t.Errorf("first %v: sent %v", first, l.messages)
		}
		for n := range 20 * 24 { // so that it is due again
			r.now = r.now.Add(time.Hour)
			r.peers[0].push(codec.Address{Addr: node(n + 200)})
			r.sendDue()
		}
		times := 0
		for _, m := range l.messages[len(want):] {
			if slices.Contains(m, own) {
				times++
				if len(m) == 1 {
					t.Errorf("first %v: sent by itself later", first)
				}
			}
		}
		if times == 0 {
			t.Errorf("first %v: never sent again", first)
		}
		old := r.add(2, p2p.OutboundFullRelay, func(p *addrPeer) { p.v2 = false })
		if len(old.messages) > 0 != first {
			t.Errorf("first %v: sent %v when the handshake is done", first, old.messages)
		}
		if r.sendDue(); len(old.messages) != 1 || !slices.Equal(old.messages[0], []netaddr.Addr{own}) {
			t.Errorf("first %v: sent %v to a peer that was connected to", first, old.messages)
		}
		const onion = "kpgvmscirrdqpekbqjsvw5teanhatztpp2gl6eee4zkowvwfxwenqaid.onion:8333"
		r.local.list = []netsetup.Local{localAddr(address(t, onion), 1)}
		blind := r.add(3, p2p.OutboundFullRelay, func(p *addrPeer) { p.v2 = false })
		if r.sendDue(); len(blind.got) > 0 {
			t.Errorf("first %v: sent %v to a peer that cannot read it", first, blind.got)
		}
	}
}
