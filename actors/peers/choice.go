package peers

import (
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/addrman"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// How many connections the node makes for itself (Core:
// MAX_OUTBOUND_FULL_RELAY_CONNECTIONS and MAX_BLOCK_RELAY_ONLY_CONNECTIONS, and
// one feeler).
const (
	fullRelaySlots  = 8
	blockRelaySlots = 2
	feelerSlots     = 1
)

// limits are how many connections there may be: of each type that the node makes for
// itself, of those that peers make, and how many of the latter relay transactions.
type limits struct{ fullRelay, blockRelay, feelers, inbound, relaying int }

// newLimits returns the limits where all connections are at most so many.
func newLimits(peers int) limits {
	l := limits{fullRelay: min(fullRelaySlots, peers), feelers: feelerSlots}
	l.blockRelay = min(blockRelaySlots, peers-l.fullRelay)
	l.inbound = max(peers-l.fullRelay-l.blockRelay-l.feelers, 0)
	l.relaying = l.inbound
	return l
}

// limits returns the limits that a configuration sets.
func (c *Config) limits() limits {
	l := newLimits(c.MaxPeers)
	if c.MaxIncoming != 0 {
		l.inbound = max(c.MaxIncoming, 0)
	}
	if l.relaying = l.inbound; c.MaxRelaying != 0 {
		l.relaying = max(c.MaxRelaying, 0)
	}
	return l
}

const (
	// maxDialing is how many connections of the node's own choice are made at a
	// time.
	maxDialing = 4

	// maxChoices is how many addresses are looked at for one to connect to.
	maxChoices = 100

	// patientChoices is how many are passed over that were tried a short time ago.
	patientChoices = 30

	// retryAddr is how long after an attempt an address is not tried again.
	retryAddr = 10 * time.Minute

	// feelerInterval is how often on average an address is tried only to know
	// whether a node is there.
	feelerInterval = 2 * time.Minute
)

// mayStart reports whether one more connection of a type may be made by request.
func (d *dialer) mayStart(typ p2p.ConnectionType) bool {
	switch typ {
	case p2p.OutboundFullRelay:
		return d.peers().countType(typ) < d.limits.fullRelay
	case p2p.BlockRelayOnly:
		return d.peers().countType(typ) < d.limits.blockRelay
	default:
		return true
	}
}

// choose returns an attempt to make a connection of the node's own choice, nil where
// none is missing, or enough are being made.
func (d *dialer) choose(now time.Time) *attempt {
	dialing := d.dialing(p2p.OutboundFullRelay) + d.dialing(p2p.BlockRelayOnly) + d.dialing(p2p.Feeler)
	if dialing >= maxDialing {
		return nil
	}
	if a, ok := d.nextAnchor(); ok {
		d.debugf("Trying to make an anchor connection to %v", a.Addr)
		return d.attemptOf(a, p2p.BlockRelayOnly)
	}
	typ, ok := d.missing(now)
	if !ok {
		return nil
	}
	a, ok := d.chooseAddr(typ)
	if !ok {
		return nil
	}
	return d.attemptOf(codec.Address{Time: uint32(a.Seen.Unix()), Services: a.Services, Addr: a.Addr}, typ)
}

// attemptOf begins an attempt at an address that the node has chosen.
func (d *dialer) attemptOf(a codec.Address, typ p2p.ConnectionType) *attempt {
	d.book.addrs.Attempt(a.Addr, len(d.outboundGroups()) >= 2, d.cfg.Now())
	return &attempt{
		addr: a.Addr, typ: typ, v2: d.cfg.V2 && a.Services&wire.SFNodeP2PV2 != 0, services: a.Services, seen: a.Time,
	}
}

// nextAnchor returns an anchor to connect to before any other node, while there is one.
func (d *dialer) nextAnchor() (codec.Address, bool) {
	for len(d.anchors) > 0 && d.has(p2p.BlockRelayOnly) < d.limits.blockRelay {
		last := len(d.anchors) - 1
		a := d.anchors[last]
		d.anchors = d.anchors[:last]
		if a.Addr.IsValid() && !d.isThisNode(a.Addr) && d.networks.usable(a.Addr.Network()) &&
			d.isChosen(a.Services) && !d.outboundGroups()[d.hand(a.Addr)] {
			return a, true
		}
	}
	return codec.Address{}, false
}

// has returns how many connections of a type there are, or are in the making.
func (d *dialer) has(typ p2p.ConnectionType) int { return d.peers().countType(typ) + d.dialing(typ) }

// missing returns the type of connection that is missing.
func (d *dialer) missing(now time.Time) (p2p.ConnectionType, bool) {
	switch {
	case d.has(p2p.OutboundFullRelay) < d.limits.fullRelay:
		return p2p.OutboundFullRelay, true
	case d.has(p2p.BlockRelayOnly) < d.limits.blockRelay:
		return p2p.BlockRelayOnly, true
	case d.has(p2p.Feeler) < d.limits.feelers && now.After(d.nextFeeler):
		d.nextFeeler = now.Add(exponential(feelerInterval))
		return p2p.Feeler, true
	}
	return 0, false
}

// chooseAddr chooses an address to connect to.
func (d *dialer) chooseAddr(typ p2p.ConnectionType) (addrman.Address, bool) {
	now := d.cfg.Now()
	taken := d.outboundGroups()
	for try := range maxChoices {
		a, ok := d.book.addrs.Select(typ == p2p.Feeler, d.networks.usable, now)
		if !ok {
			return a, false
		}
		switch {
		case !a.Addr.IsValid() || a.Addr.IsLocal() || d.isThisNode(a.Addr):
			return a, false // as Core: something is odd, so later
		case typ != p2p.Feeler && taken[d.hand(a.Addr)]:
		case now.Sub(a.LastTry) < retryAddr && try < patientChoices:
		case typ != p2p.Feeler && !d.isChosen(a.Services):
		case d.bans.isUnwelcome(a.Addr, now):
		case d.peers().connectionTo(a.Addr.String(), a.Addr) != nil:
		default:
			return a, true
		}
	}
	return addrman.Address{}, false
}

// outboundGroups returns the groups of addresses that the node is connected to by its
// own choice, or is about to be.
func (d *dialer) outboundGroups() map[string]bool {
	groups := d.peers().outboundGroups(d.hand)
	for a := range d.attempts {
		groups[d.hand(a.addr)] = true
	}
	return groups
}

// hand is what addresses have in common that are likely to be in one hand, of which the node
// connects to one. Where a network hides where its nodes are, each is a hand of its own.
func (d *dialer) hand(a netaddr.Addr) string {
	switch a.Network() {
	case netaddr.Onion, netaddr.I2P, netaddr.CJDNS:
		return a.String()
	default:
		return d.group(a)
	}
}

// isThisNode reports whether this node can be reached at an address.
func (d *dialer) isThisNode(a netaddr.Addr) bool {
	return d.local.has(a)
}
