package peers

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/addrman"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/netsetup"
	"github.com/seed61375155/trawl/messages"
)

const (
	// dialsAtOnce is how many connections of the node's own choice are made at a
	// time.
	dialsAtOnce = 4

	// choices is how many addresses are looked at for one to connect to.
	choices = 100

	// patientChoices is how many are passed over that were tried a short time ago.
	patientChoices = 30

	// restBetween is how long an address rests after a try.
	restBetween = 10 * time.Minute

	// feelEvery is how often on average an address is tried only to know whether a
	// node is there.
	feelEvery = 2 * time.Minute

	// recentBlocks is how far behind, in blocks by the clock, a node may be that
	// connects to others that keep the last blocks alone.
	recentBlocks = 144
)

// fullNode is what a node must offer that blocks are asked of.
const fullNode = wire.SFNodeNetwork | wire.SFNodeWitness

// connectAutomatic makes a connection of the node's own choice, where one is
// missing.
func (t *Table) connectAutomatic(c actor.Context) {
	if !t.cfg.Automatic {
		return
	}
	t.seed(c)
	dialing := 0
	for _, typ := range []p2p.ConnectionType{p2p.OutboundFullRelay, p2p.BlockRelayOnly, p2p.Feeler} {
		dialing += t.dialingType(typ)
	}
	if dialing >= dialsAtOnce {
		return
	}
	if typ, ok := t.missing(); ok {
		if a, ok := t.chooseAddr(typ); ok {
			t.addrs.Attempt(a.Addr, t.groups() >= 2, t.cfg.Now())
			t.dial(c, &dial{addr: a.Addr, typ: typ, v2: t.cfg.V2 && a.Services&wire.SFNodeP2PV2 != 0})
		}
	}
}

// missing returns the type of connection that is missing.
func (t *Table) missing() (p2p.ConnectionType, bool) {
	full, blocks, feelers := t.slots()
	switch {
	case t.has(p2p.OutboundFullRelay) < full:
		return p2p.OutboundFullRelay, true
	case t.has(p2p.BlockRelayOnly) < blocks:
		return p2p.BlockRelayOnly, true
	case t.has(p2p.Feeler) < feelers && time.Now().After(t.nextFeeler):
		t.nextFeeler = time.Now().Add(exponential(feelEvery))
		return p2p.Feeler, true
	}
	return 0, false
}

func (t *Table) has(typ p2p.ConnectionType) int { return t.countType(typ) + t.dialingType(typ) }

// chooseAddr chooses an address to connect to.
func (t *Table) chooseAddr(typ p2p.ConnectionType) (addrman.Address, bool) {
	now := t.cfg.Now()
	taken := t.outboundGroups()
	for try := range choices {
		a, ok := t.addrs.Select(typ == p2p.Feeler, t.usable, now)
		if !ok {
			return a, false
		}
		switch {
		case !a.Addr.IsValid() || a.Addr.IsLocal() || t.isOwn(a.Addr):
			return a, false // as Core: something is odd, so later
		case typ != p2p.Feeler && taken[string(a.Addr.Group())]:
		case now.Sub(a.LastTry) < restBetween && try < patientChoices:
		case typ != p2p.Feeler && t.desirable(a.Services)&^a.Services != 0:
		case t.bans.isUnwelcome(a.Addr, now):
		case t.isConnected(a.Addr.String(), a.Addr):
		default:
			return a, true
		}
	}
	return addrman.Address{}, false
}

// outboundGroups are the groups of addresses that the node is connected to by its
// own choice: one of each is enough.
func (t *Table) outboundGroups() map[string]bool {
	groups := make(map[string]bool)
	for _, e := range t.peers {
		if e.typ == p2p.OutboundFullRelay || e.typ == p2p.BlockRelayOnly || e.typ == p2p.Manual {
			groups[string(e.addr.Group())] = true
		}
	}
	for d := range t.dials {
		groups[string(d.addr.Group())] = true
	}
	return groups
}

func (t *Table) groups() int { return len(t.outboundGroups()) }

func (t *Table) isOwn(a netaddr.Addr) bool {
	return slices.ContainsFunc(t.cfg.Local, func(l netsetup.Local) bool { return l.Addr == a })
}

// usable reports whether a network can be connected to.
func (s *shared) usable(n netaddr.Network) bool {
	if !s.reaches(n) {
		return false
	}
	return n == netaddr.IPv4 || n == netaddr.IPv6 || n == netaddr.CJDNS && s.cfg.Reachable[n] || s.proxyOf(n) != ""
}

// proxyOf returns the proxy for a network, empty for none.
func (s *shared) proxyOf(n netaddr.Network) string { return s.cfg.Proxies[n] }

// desirable returns what a node must offer that offers what it is given.
func (s *shared) desirable(offered wire.ServiceFlag) wire.ServiceFlag {
	if offered&wire.SFNodeNetworkLimited == 0 {
		return fullNode
	}
	reader := s.cfg.Chain.Open()
	if reader == nil {
		return fullNode
	}
	behind := s.cfg.Now().Sub(reader.Active().Tip().Header.Timestamp)
	if behind >= recentBlocks*s.cfg.Network.Params.TargetTimePerBlock {
		return fullNode
	}
	return wire.SFNodeNetworkLimited | wire.SFNodeWitness
}

// reached notes that a node was reached.
func (t *Table) reached(e *entry) {
	if e.typ == p2p.Inbound || e.typ == p2p.BlockRelayOnly && e.addr == (netaddr.Addr{}) {
		return
	}
	now := t.cfg.Now()
	t.addrs.SetServices(e.addr, e.remote.Version.Services)
	t.addrs.Good(e.addr, now)
	t.addrsChanged = true
}

// locals lists the addresses at which the node can be reached.
func (t *Table) locals() []messages.LocalAddress {
	var list []messages.LocalAddress
	for _, l := range t.cfg.Local {
		list = append(list, messages.LocalAddress{Host: l.Addr.Host(), Port: l.Addr.Port(), Score: l.Score})
	}
	return list
}

// When DNS seeds are asked by a node that knows addresses (src/net.cpp).
const (
	seedSoon  = 11 * time.Second
	seedLater = 5 * time.Minute // with many addresses
	manyAddrs = 1000
	seedPeers = 2 // that are enough without
	seedTime  = 30 * time.Second
	seedYoung = 3 * 24 * time.Hour // how old addresses of seeds count, at least
	seedAge   = 4 * 24 * time.Hour // and how much more at most
)

// seeded is what the DNS seeds have told.
type seeded struct{ list []codec.Address }

// seed asks nodes and names for addresses, once in the life of the table.
func (t *Table) seed(c actor.Context) {
	now := time.Now()
	if t.began.IsZero() {
		t.began = now
	}
	wait := time.Duration(0)
	switch n := t.addrs.Len(); {
	case t.cfg.ForceSeeds || n == 0:
	case n < manyAddrs:
		wait = seedSoon
	default:
		wait = seedLater
	}
	if t.seeding || now.Sub(t.began) < wait {
		return
	}
	t.seeding = true
	if !t.cfg.ForceSeeds && t.countType(p2p.OutboundFullRelay) >= seedPeers {
		t.printf("P2P peers available. Skipped DNS seeding.")
		return
	}
	for _, node := range t.cfg.SeedNodes {
		t.dial(c, &dial{node: node, typ: p2p.AddrFetch, v2: t.cfg.V2})
	}
	if len(t.cfg.Seeds) == 0 {
		return
	}
	if t.cfg.NameProxy { // the proxy looks up names, and only to connect to them
		for _, seed := range t.cfg.Seeds {
			t.dial(c, &dial{node: seed, typ: p2p.AddrFetch, v2: t.cfg.V2})
		}
		return
	}
	t.workers.start(c, func() any { return seeded{t.askSeeds()} })
}

// askSeeds looks up the DNS seeds, in a worker.
func (t *Table) askSeeds() []codec.Address {
	ctx, cancel := context.WithTimeout(t.ctx, seedTime)
	defer cancel()
	var list []codec.Address
	for _, seed := range t.cfg.Seeds {
		t.printf("Loading addresses from DNS seed %s", seed)
		found, err := t.cfg.Source.Lookup(ctx, "x9."+seed) // by the services that the nodes offer
		if err != nil {
			t.debugf("DNS seed %s: %v", seed, err)
			continue
		}
		for _, ip := range found {
			age := seedYoung + time.Duration(t.hash(ip.String())%uint64(seedAge))
			list = append(list, codec.Address{
				Time: uint32(time.Now().Add(-age).Unix()), Services: fullNode,
				Addr: netaddr.FromAddrPort(netip.AddrPortFrom(ip.Unmap(), t.cfg.Network.P2PPort)),
			})
		}
	}
	return list
}

func (t *Table) seeded(m seeded) {
	t.printf("%d addresses found from DNS seeds", len(m.list))
	for _, a := range m.list {
		t.remember([]codec.Address{a}, a.Addr, 0)
	}
}
