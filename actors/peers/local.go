package peers

import (
	"context"
	"slices"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/netsetup"
	"github.com/seed61375155/trawl/internal/p2p/torcontrol"
)

// localAddrs are the addresses at which the node is reached. Some appear and disappear with
// their networks, such as I2P and Tor.
type localAddrs struct{ list []netsetup.Local }

func (l *localAddrs) add(a netsetup.Local) {
	if !l.has(a.Addr) {
		l.list = append(l.list, a)
	}
}

func (l *localAddrs) remove(a netaddr.Addr) {
	l.list = slices.DeleteFunc(l.list, func(known netsetup.Local) bool { return known.Addr == a })
}

func (l *localAddrs) has(a netaddr.Addr) bool {
	return slices.ContainsFunc(l.list, func(known netsetup.Local) bool { return known.Addr == a })
}

// Messages from listeners and Tor about the node's own addresses and the onion proxy.
type (
	localAdded   struct{ netsetup.Local }
	localRemoved struct{ addr netaddr.Addr }
	onionProxied struct{ addr netaddr.Addr }
)

// AddLocal implements netsetup.Reporter.
func (m mailbox) AddLocal(l netsetup.Local) { m.tell(localAdded{l}) }

// RemoveLocal implements netsetup.Reporter.
func (m mailbox) RemoveLocal(a netaddr.Addr) { m.tell(localRemoved{a}) }

// manual is the score of an address that is surely the node's (Core: LOCAL_MANUAL).
const manual = 4

// Published implements torcontrol.Observer.
func (m mailbox) Published(a netaddr.Addr) { m.AddLocal(netsetup.Local{Addr: a, Score: manual}) }

// Withdrawn implements torcontrol.Observer.
func (m mailbox) Withdrawn(a netaddr.Addr) { m.RemoveLocal(a) }

// Proxied implements torcontrol.Observer.
func (m mailbox) Proxied(a netaddr.Addr) { m.tell(onionProxied{a}) }

// serveOnion has Tor make an onion service, for as long as ctx does. It runs beside the actor.
func (b *base) serveOnion(ctx context.Context, run runner, to mailbox) {
	if b.cfg.Tor == nil {
		return
	}
	run(func() func() {
		torcontrol.Run(ctx, *b.cfg.Tor, to)
		return nil
	})
}

// reachOnion reaches Tor through the proxy that it has named.
func (d *dialer) reachOnion(proxy netaddr.Addr) {
	through := netsetup.Proxy{Addr: proxy.String(), Randomize: true}
	d.networks.setOnion(through, d.cfg.OnionLate)
	if s, ok := d.cfg.Source.(interface{ SetOnion(through netsetup.Proxy) }); ok {
		s.SetOnion(through)
	}
}
