package peers

import (
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/messages"
)

// How many connections the node makes for itself (Core:
// MAX_OUTBOUND_FULL_RELAY_CONNECTIONS and MAX_BLOCK_RELAY_ONLY_CONNECTIONS, and
// one feeler).
const (
	fullRelaySlots  = 8
	blockRelaySlots = 2
	feelerSlots     = 1
)

// maintain makes the connections that are missing.
func (t *Table) maintain(c actor.Context) {
	if !t.active || t.ctx.Err() != nil {
		return
	}
	t.connectAdded(c)
	t.connectAutomatic(c)
}

// slots returns how many connections of each type the node makes for itself.
func (t *Table) slots() (full, blocks, feelers int) {
	full = min(fullRelaySlots, t.cfg.MaxPeers)
	blocks = min(blockRelaySlots, t.cfg.MaxPeers-full)
	return full, blocks, feelerSlots
}

// maxInbound is how many connections peers may make.
func (t *Table) maxInbound() int {
	full, blocks, feelers := t.slots()
	return max(t.cfg.MaxPeers-full-blocks-feelers, 0)
}

// hasSlot reports whether one more connection of a type may be made by request.
func (t *Table) hasSlot(typ p2p.ConnectionType) bool {
	full, blocks, _ := t.slots()
	switch typ {
	case p2p.OutboundFullRelay:
		return t.countType(typ) < full
	case p2p.BlockRelayOnly:
		return t.countType(typ) < blocks
	default:
		return true
	}
}

// setActive lets connections be, or ends them all.
func (t *Table) setActive(on bool) {
	t.printf("SetNetworkActive: %t", on)
	if t.active == on {
		return
	}
	t.active = on
	if on {
		for _, a := range t.added {
			a.next = time.Time{}
		}
		return
	}
	for _, e := range t.peers {
		t.debugf("Network not active, %s", e.disconnecting())
		e.session.Close(errInactive)
	}
}

// network serves messages.GetNetwork.
func (t *Table) network() messages.NetworkState {
	return messages.NetworkState{
		Active: t.active, Services: uint64(t.cfg.Services), Relay: !t.cfg.Relay.IsAbsent() && !t.cfg.BlocksOnly, Peers: t.count(),
		TimeOffset: t.timeOffset(), Sent: t.totals.Sent.Load(), Received: t.totals.Received.Load(),
		Networks: t.networks.list(), Local: t.locals(), V2: t.cfg.V2,
	}
}

// enoughOffsets is how many peers must have told their time before it counts.
const enoughOffsets = 5

// timeOffset is the median of how far the clocks of outbound peers are ahead.
func (t *Table) timeOffset() time.Duration {
	var offsets []time.Duration
	for _, e := range t.peers {
		if e.established && e.typ != p2p.Inbound {
			offsets = append(offsets, e.remote.TimeOffset)
		}
	}
	if len(offsets) < enoughOffsets {
		return 0
	}
	slices.Sort(offsets)
	return offsets[len(offsets)/2]
}

// misbehaved is what a session or another actor says of a peer.
type misbehaved struct {
	id     int64
	reason string
}

// misbehaved decides on a peer that does what no honest one does.
func (t *Table) misbehaved(m misbehaved) {
	e := t.byID(m.id)
	if e == nil {
		return
	}
	t.debugf("Misbehaving: peer=%d: %s", e.id, m.reason)
	switch {
	case e.allowed.NoBan:
		t.printf("Warning: not punishing noban peer %d!", e.id)
	case e.typ == p2p.Manual:
		t.printf("Warning: not punishing manually connected peer %d!", e.id)
	case e.onion || e.addr.IsLocal():
		kind := "local"
		if e.onion {
			kind = "inbound onion"
		}
		t.debugf("Warning: disconnecting but not discouraging %s peer %d!", kind, e.id)
		e.session.Close(errMisbehaving)
	default:
		t.debugf("Disconnecting and discouraging peer %d!", e.id)
		t.discourage(e.addr)
	}
}
