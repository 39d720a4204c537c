package peers

import (
	"net"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/access"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
)

// listen begins to accept, once in the life of the table.
func (t *Table) listen(c actor.Context) {
	to := t.self
	t.listener.start(c, func(m accepted) { to.tell(m) }, to, t.printf)
}

// accepted takes a connection. Where there are too many, it first finds out which
// one can be evicted.
func (t *Table) accepted(c actor.Context, m accepted) {
	if t.peers.inboundCount() >= t.limits.inbound && t.dialer.active {
		if t.evicting == nil {
			t.evicting = make(map[net.Conn]accepted)
		}
		t.evicting[m.conn] = m
		evictor{t}.evictFor(c, evictionQuery{accepted: m})
		return
	}
	defer m.handled()
	t.take(c, m, false)
}

// An evictor is the table where it ends inbound connections for others.
type evictor struct{ *Table }

// An evictionQuery collects what the actors of blocks and transactions know of the
// inbound peers. Some peer must go for a connection that was accepted, or for another that relays transactions.
type evictionQuery struct {
	accepted accepted
	relaying *relaying // in place of a connection
	sync     map[int64]nodemsg.PeerSync
	relay    map[int64]nodemsg.PeerRelay
	asked    int // of the two actors
}

// evictFor finds out about the inbound peers, then evicts one for a connection that
// is there already, and takes that.
func (t evictor) evictFor(c actor.Context, q evictionQuery) {
	switch {
	case q.asked == 0 && !t.cfg.Sync.IsAbsent():
		ask.Then(t.ctx, c, t.cfg.Sync, nodemsg.GetPeerSync{}, func(got map[int64]nodemsg.PeerSync, _ error) any {
			q.sync, q.asked = got, 1
			return q
		})
	case q.asked <= 1 && !t.cfg.Relay.IsAbsent():
		ask.Then(t.ctx, c, t.cfg.Relay, nodemsg.GetPeerRelay{}, func(got map[int64]nodemsg.PeerRelay, _ error) any {
			q.relay, q.asked = got, 2
			return q
		})
	case q.relaying != nil:
		t.evictRelaying(q)
	default:
		delete(t.evicting, q.accepted.conn)
		defer q.accepted.handled()
		t.evict(q)
		t.take(c, q.accepted, true)
	}
}

// evict ends an inbound connection, unless all are protected.
func (t evictor) evict(q evictionQuery) {
	t.evictOf(q, func(*entry) bool { return true })
}

// evictOf ends one of the inbound connections that fit. It reports false where all of them are protected.
func (t evictor) evictOf(q evictionQuery, fits func(*entry) bool) bool {
	inbound := t.inboundPeers(fits)
	for i := range inbound {
		p := &inbound[i]
		p.lastBlock, p.lastTx = q.sync[p.id].LastBlock, q.relay[p.id].LastTx
	}
	id, ok := chooseEvicted(inbound)
	if !ok {
		return false
	}
	e := t.peers.byID(id)
	t.debugf("selected %s connection for eviction, %s", e.typ, e.disconnecting())
	e.session.Close(errEvicted)
	return true
}

// relaying reports that an inbound peer wants transactions from now on, by a message of that name. The name is empty if
// the peer has said so from the start.
type relaying struct {
	id int64
	by string
}

// relaying looks whether a peer that relays transactions may stay: since these take more of the node, some of the
// inbound connections are kept for others.
func (t evictor) relaying(c actor.Context, m relaying) {
	if e := t.peers.byID(m.id); e != nil && e.typ == p2p.Inbound && t.peers.relayingCount() > t.limits.relaying {
		t.evictFor(c, evictionQuery{relaying: &m})
	}
}

// evictRelaying ends an inbound connection with a peer that relays transactions, in place of a new one; if all are
// protected it ends the new one.
func (t evictor) evictRelaying(q evictionQuery) {
	e := t.peers.byID(q.relaying.id)
	if e == nil || t.peers.relayingCount() <= t.limits.relaying || // others have left since
		t.evictOf(q, func(other *entry) bool { return other != e && other.relays() }) {
		return
	}
	after := ""
	if q.relaying.by != "" {
		after = " after " + q.relaying.by + " message"
	}
	t.debugf("failed to find a tx-relaying eviction candidate - connection dropped%s, %s", after, e.disconnecting())
	e.session.Close(errNoRelay)
}

// inboundPeers lists the inbound connections that may be evicted, of those that fit.
func (t evictor) inboundPeers(fits func(*entry) bool) []inboundPeer {
	var list []inboundPeer
	for _, e := range t.peers {
		if e.typ != p2p.Inbound || e.allowed.NoBan || e.conn.isClosed() || !fits(e) {
			continue
		}
		st := e.session.Stats()
		list = append(list, inboundPeer{
			id: e.id, group: t.secret.hash(t.group(e.addr)), since: st.Connected, ping: st.MinPing,
			blocksOnly: e.established && e.remote.Version.NoTransactions, discouraged: e.discouraged,
		})
	}
	return list
}

// take adds a connection that the table admits, and closes any other. full says that there was
// no room, and that a peer was evicted if possible.
func (t *Table) take(c actor.Context, m accepted, full bool) {
	addr := t.placed(addrOf(m.conn.RemoteAddr()))
	e := &entry{name: addr.String(), addr: addr, onion: m.listener.Onion, typ: p2p.Inbound}
	e.allowed = t.permissions(e)
	if g := m.listener.Grant; g != nil {
		e.allowed = access.Union(e.allowed, g.Of(t.cfg.Defaults))
	}
	if !t.admits(e, full) {
		_ = m.conn.Close()
		return
	}
	t.debugf("connection from %s accepted", e.name)
	t.add(c, m.conn, e, t.cfg.V2)
}

// admits reports whether an inbound connection may stay.
func (t *Table) admits(e *entry, full bool) bool {
	inbound, now := t.peers.inboundCount(), t.cfg.Now()
	e.discouraged = t.bans.isDiscouraged(e.addr)
	switch {
	case !t.dialer.active:
		t.debugf("connection from %s dropped: not accepting new connections", e.name)
		return false
	case !e.allowed.NoBan && t.bans.isBanned(e.addr, now):
		t.debugf("connection from %s dropped (banned)", e.name)
		return false
	case !e.allowed.NoBan && e.discouraged && (full || inbound+1 >= t.limits.inbound):
		t.debugf("connection from %s dropped (discouraged)", e.name)
		return false
	case inbound >= t.limits.inbound:
		t.debugf("failed to find an eviction candidate - connection dropped (full)")
		return false
	}
	return true
}

// permissions returns what a peer may do by its address.
func (t *Table) permissions(e *entry) peerhandle.Permissions {
	var p peerhandle.Permissions
	if e.onion {
		return p
	}
	for _, w := range t.cfg.Whitelist {
		if (w.In && e.typ == p2p.Inbound || w.Out && e.typ != p2p.Inbound) && w.Subnet.Contains(e.addr) {
			p = access.Union(p, w.Of(t.cfg.Defaults))
		}
	}
	return p
}
