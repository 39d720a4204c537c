package peers

import (
	"errors"
	"fmt"
	"net"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/bloom"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/messages"
)

// add puts a connection into the table and starts its actor.
func (t *Table) add(c actor.Context, conn net.Conn, e *entry, v2 bool) {
	e.id = t.nextID
	t.nextID++
	e.bind = t.placed(addrOf(conn.LocalAddr()))
	cfg := t.session(e.id, e.typ, v2)
	cfg.Services = t.servicesFor(e)
	if !t.cfg.Relay.IsAbsent() && e.allowed.Relay {
		cfg.NoTransactions = false
	}
	cfg.Addr, cfg.LogAddr, cfg.Refuse = e.addr, t.logSuffix(e.name), e.refuse
	cfg.LogPrivate = t.privateLine
	cfg.Capture = t.capture(e.addr)
	e.conn = newConnection(t.base, t.self, e)
	if cfg.Services&wire.SFNodeBloom != 0 && e.typ != p2p.BlockRelayOnly && e.typ != p2p.Feeler {
		e.conn.info.Filter = new(bloom.Filter)
	}
	e.session = p2p.New(conn, cfg, e.conn)
	e.conn.session = e.session
	ref, err := ask.Spawn(c, t.cfg.Log, fmt.Sprintf("peer-%d", e.id), 1, newConnActor(e.conn), nil)
	if err != nil {
		_ = conn.Close()
		t.log.Error("peer without an actor", "err", err)
		return
	}
	t.cfg.Meter.Add(ref)
	e.ref = ref
	t.peers = append(t.peers, e)
	if to := t.logAddr(e.name); to != "" {
		t.debugf("Added connection to %s peer=%d", to, e.id)
	} else {
		t.debugf("Added connection peer=%d", e.id)
	}
}

// servicesFor returns what the node offers a peer: bloom filters by permission, too.
func (t *Table) servicesFor(e *entry) wire.ServiceFlag {
	if e.allowed.BloomFilter {
		return t.services() | wire.SFNodeBloom
	}
	return t.services()
}

// session returns the configuration of a session.
func (t *Table) session(id int64, typ p2p.ConnectionType, v2 bool) p2p.Config {
	return p2p.Config{
		ID: id, Type: typ, Magic: t.cfg.Network.Magic, V2: v2, Protocol: t.cfg.Network.ProtocolVersion,
		UserAgent: t.cfg.UserAgent, Services: t.services(), Height: t.height(),
		NoTransactions: t.cfg.Relay.IsAbsent() || t.cfg.BlocksOnly, Nonces: &t.nonces,
		SendLimit: t.cfg.SendLimit, ReceiveLimit: t.cfg.RecvLimit, PeerTimeout: t.cfg.PeerTimeout,
		Desirable: t.desirable, Now: t.cfg.Now, Log: t.logLine, NewerLog: t.cfg.Network.Traffic.NewerLog,
		LogReconciling: t.reconcileLine,
		Reconcile:      t.cfg.Reconcile && !t.cfg.BlocksOnly, Totals: t.totals,
		Make: codec.NewWith(t.cfg.Network.HeaderLen), HandPings: true, QuietFeelers: t.cfg.Network.Traffic.QuietFeelers,
	}
}

// joined notes that a peer has shaken hands.
func (t *Table) joined(c actor.Context, m joined) {
	e := t.peers.byID(m.id)
	if e == nil {
		return
	}
	e.established, e.remote = true, m.remote
	t.logJoined(e)
	if e.typ != p2p.Inbound && e.addr.Network() == netaddr.Onion {
		t.private.torWorks = true
	}
	if e.typ == p2p.PrivateBroadcast { // of which nothing is noted: that could tell of it
		t.announce(e, true)
		t.privateJoined(e)
		return
	}
	t.addrs.join(&addrPeer{
		conn: e.conn, id: e.id, typ: e.typ, addr: e.addr, cacheKey: e.cameBy(),
		unlimited: e.allowed.Addr, v2: e.remote.AddrV2, since: e.conn.info.Since,
	})
	t.reached(e)
	t.logNewer(e)
	t.announce(e, true)
	if e.relays() {
		evictor{t}.relaying(c, relaying{id: e.id})
	}
}

// announce says that a peer has joined or left.
func (t *Table) announce(e *entry, connected bool) {
	if t.cfg.News != nil && e.established {
		t.cfg.News.Publish(messages.PeerChanged{
			ID: e.id, Addr: e.name, Inbound: e.typ == p2p.Inbound, Connected: connected,
		})
	}
}

// reached notes that a node was reached.
func (t *Table) reached(e *entry) {
	if e.typ == p2p.Inbound || e.typ == p2p.BlockRelayOnly && e.addr == (netaddr.Addr{}) {
		return
	}
	t.book.reached(e.addr, e.remote.Version.Services)
}

// ended takes out a connection whose actor has stopped.
func (t *Table) ended(c actor.Context, who *actor.PID) {
	e := t.peers.byActor(who)
	if e == nil {
		return
	}
	e.session.Close(nil) // an actor that failed too often left it
	t.peers = t.peers.without(e)
	t.announce(e, false)
	t.debugf("Cleared nodestate for peer=%d", e.id)
	why := e.conn.reason
	if e.typ == p2p.PrivateBroadcast {
		t.private.left(e)
		if e.confirmed || errors.Is(why, p2p.ErrRetryV1) { // else the next tick looks for another
			t.again(c, e, why)
		}
		return
	}
	t.addrs.leave(e.id)
	if errors.Is(why, p2p.ErrSelf) {
		t.printf("connected to self at %s, disconnecting", e.name)
	}
	if refused, ok := errors.AsType[*p2p.ServicesError](why); ok && e.typ != p2p.Inbound {
		t.book.offers(e.addr, refused.Offered)
	}
	if errors.Is(why, p2p.ErrFeeler) {
		t.debugf("feeler connection completed, %s", e.disconnecting())
		e.remote = e.session.Stats().Remote
		t.reached(e)
	}
	if e.established && e.typ != p2p.Inbound && e.typ != p2p.BlockRelayOnly {
		t.book.addrs.Connected(e.addr, t.cfg.Now())
	}
	t.again(c, e, why)
}

// again connects to a peer again that did not understand v2, or looks for what else is missing.
func (t *Table) again(c actor.Context, e *entry, why error) {
	if errors.Is(why, p2p.ErrRetryV1) && e.attempt != nil && t.dialer.active {
		t.debugf("retrying with v1 transport protocol for peer=%d", e.id)
		again := *e.attempt
		again.v2, again.done = false, nil
		t.dial(c, &again)
		return
	}
	t.maintain(c)
}

func (t *Table) infos(messages.GetPeers) ([]messages.PeerInfo, error) {
	infos := make([]messages.PeerInfo, len(t.peers))
	for i, e := range t.peers {
		infos[i] = e.info()
		if p, ok := t.addrs.peer(e.id); ok {
			infos[i].AddrRelay, infos[i].AddrProcessed, infos[i].AddrLimited = p.enabled, p.processed, p.limited
		}
	}
	return infos, nil
}

func (t *Table) network(messages.GetNetwork) (messages.NetworkState, error) {
	n := messages.NetworkState{
		Active: t.dialer.active, Services: uint64(t.services()), Peers: t.peers.count(),
		Relay:      !t.cfg.Relay.IsAbsent() && !t.cfg.BlocksOnly,
		TimeOffset: t.peers.timeOffset(), Sent: t.totals.Sent.Load(), Received: t.totals.Received.Load(),
		Networks: t.networks.list(), V2: t.cfg.V2,
		Uploads:  messages.UploadState(t.totals.Uploads.State(t.cfg.Now())),
		Archives: t.peers.archives(t.dialer.addedNodes()),
	}
	for _, l := range t.local.list {
		n.Local = append(n.Local, messages.LocalAddress{Host: l.Addr.Host(), Port: l.Addr.Port(), Score: l.Score})
	}
	return n, nil
}

// disconnect ends a connection for the operator.
func (t *Table) disconnect(q messages.DisconnectPeer) (messages.Done, error) {
	var e *entry
	how := "address"
	if q.ID != nil {
		e, how = t.peers.byID(*q.ID), "id"
	} else {
		e = t.peers.find(func(e *entry) bool { return e.name == q.Addr })
	}
	if e == nil {
		return messages.Done{}, messages.ErrPeerNotFound
	}
	t.debugf("disconnect by %s match, %s", how, e.disconnecting())
	e.session.Close(errDisconnected)
	return messages.Done{}, nil
}

// send sends a peer a message of any kind.
func (t *Table) send(q messages.SendToPeer) (messages.Done, error) {
	e := t.peers.byID(q.ID)
	if e == nil {
		return messages.Done{}, messages.ErrPeerNotFound
	}
	err := e.session.SendRaw(q.Command, q.Payload)
	if errors.Is(err, p2p.ErrEarly) {
		return messages.Done{}, messages.ErrPeerNotFound // there is none yet
	}
	return messages.Done{}, nil // a connection that ends is seen anyway
}

// setActive lets connections be, or ends them all.
func (t *Table) setActive(q messages.SetNetworkActive) (messages.Done, error) {
	t.printf("SetNetworkActive: %t", q.Active)
	if t.dialer.active == q.Active {
		return messages.Done{}, nil
	}
	t.dialer.setActive(q.Active)
	if q.Active {
		return messages.Done{}, nil
	}
	for _, e := range t.peers {
		t.debugf("Network not active, %s", e.disconnecting())
		e.session.Close(errInactive)
	}
	return messages.Done{}, nil
}

// setBan bans a range of addresses, whose peers it leaves, or takes a ban back.
func (t *Table) setBan(c actor.Context, m *ask.Call[messages.SetBan, messages.Done]) {
	var err error
	if m.Req.Remove {
		err = t.bans.remove(m.Req.Subnet)
	} else {
		var subnet netaddr.Subnet
		if subnet, err = t.bans.add(&m.Req, t.cfg.Now()); err == nil {
			t.closeAll("subnet", errBanned, func(e *entry) bool { return subnet.Contains(e.addr) })
		}
	}
	if err != nil {
		m.Answer(messages.Done{}, err)
		return
	}
	t.bans.save(t.runner(c), func() { m.Answer(messages.Done{}, nil) })
}

// misbehaved is what a session or another actor says of a peer.
type misbehaved struct {
	id     int64
	reason string
}

// misbehaved decides on a peer that does what no honest one does.
func (t *Table) misbehaved(m misbehaved) {
	e := t.peers.byID(m.id)
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
		t.bans.discourage(e.addr)
		host := e.addr.WithPort(0)
		t.closeAll("address", errMisbehaving, func(e *entry) bool { return e.addr.WithPort(0) == host })
	}
}

// closeAll ends the connections that fit; how says by what in the log.
func (t *Table) closeAll(how string, why error, fits func(*entry) bool) {
	for _, e := range t.peers {
		if fits(e) {
			t.debugf("disconnect by %s match, %s", how, e.disconnecting())
			e.session.Close(why)
		}
	}
}
