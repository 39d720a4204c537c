package peers

import (
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
			t.book.addrs.Attempt(a.Addr, t.groups() >= 2, t.cfg.Now())
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
		a, ok := t.book.addrs.Select(typ == p2p.Feeler, t.networks.usable, now)
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
	t.book.reached(e.addr, e.remote.Version.Services)
}

// locals lists the addresses at which the node can be reached.
func (t *Table) locals() []messages.LocalAddress {
	var list []messages.LocalAddress
	for _, l := range t.cfg.Local {
		list = append(list, messages.LocalAddress{Host: l.Addr.Host(), Port: l.Addr.Port(), Score: l.Score})
	}
	return list
}

// seed asks nodes and names for addresses, when it is time.
func (t *Table) seed(c actor.Context) {
	if !t.seeds.due(time.Now(), t.book.addrs.Len(), t.countType(p2p.OutboundFullRelay)) {
		return
	}
	for _, node := range t.seeds.nodes() {
		t.dial(c, &dial{node: node, typ: p2p.AddrFetch, v2: t.cfg.V2})
	}
	if len(t.seeds.names()) == 0 {
		return
	}
	t.runner(c)(func() func() {
		list := t.seeds.lookUp(t.ctx)
		return func() {
			t.printf("%d addresses found from DNS seeds", len(list))
			for _, a := range list {
				t.book.store([]codec.Address{a}, a.Addr, 0)
			}
		}
	})
}
