// Package peers holds the actors of the node's place in the network: the peer
// table, which owns who is connected, and one child of it for each connection.
//
// The table numbers connections, admits and ends them, and answers. Its components know
// nothing of actors. The dialer makes connections, the listener accepts them. bans are
// the unwelcome addresses, addrBook the known nodes. addrRelay exchanges addresses with
// peers, and seeder chooses whom to ask for the first addresses. A child runs the
// session of its connection (package p2p) and hands each message to the actors that it
// concerns, as package peerhandle says. A session that fails ends alone: its child is not
// restarted, it reports that the peer has left, and stops.
package peers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
)

var table = ask.TableOf(
	ask.AtOnce((*Table).infos), ask.AtOnce((*Table).count), ask.AtOnce((*Table).disconnect), ask.AtOnce((*Table).ping),
	ask.AtOnce((*Table).removeNode), ask.AtOnce((*Table).addedNodes), ask.AtOnce((*Table).setActive),
	ask.AtOnce((*Table).network), ask.AtOnce((*Table).addresses), ask.AtOnce((*Table).addAddress),
	ask.AtOnce((*Table).countAddresses), ask.AtOnce((*Table).addressTables), ask.AtOnce((*Table).send),
	ask.AtOnce((*Table).listBans), ask.AtOnce((*Table).broadcastPrivately), ask.AtOnce((*Table).listPrivate),
	ask.AtOnce((*Table).abortPrivate), ask.On((*Table).advanceTimers),
	ask.On((*Table).connectOnce), ask.On((*Table).addNode), ask.On((*Table).setBan), ask.On((*Table).clearBans),
)

// Requests lists what a plain protoactor request may ask.
var Requests = table.Served

// Table is the actor that owns who is connected; make one with [New].
type Table struct {
	*shared

	ctx    context.Context //nolint:containedctx // ends dialing and listening when the actor stops
	cancel context.CancelFunc
	self   mailbox
	peers  peerSet
	tasks  ask.Tasks

	evicting map[net.Conn]accepted // connections for which a peer that can go is looked for
}

// shared is what the instances of the table have in common. One instance at a time
// uses it.
type shared struct {
	*base

	nonces p2p.Nonces
	nextID int64
	secret secret

	networks networks
	limits   limits
	bans     *bans
	book     *addrBook
	addrs    *addrRelay
	seeds    *seeder
	fallback *fallback
	offered  serviceLog
	pending  pendingConns
	listener *listener
	dialer   *dialer
	private  *privateSender
}

// New returns the producer of the table.
func New(cfg Config) actor.Producer {
	cfg.setDefaults()
	b := newBase(cfg)
	s := &shared{
		base: b, networks: networks{cfg.Reachable, cfg.Proxies}, limits: cfg.limits(),
		bans: loadBans(b), book: newAddrBook(b),
	}
	_, _ = rand.Read(s.secret[:]) // never fails
	s.addrs = newAddrRelay(b, s.book, s.bans, &s.networks, &s.secret)
	s.seeds = newSeeder(b, &s.secret)
	s.fallback, s.offered = &fallback{base: b}, serviceLog{base: b}
	s.listener = &listener{at: cfg.Listeners, pending: &s.pending, stopped: make(chan struct{})}
	s.private = newPrivateSender(b)
	s.dialer = newDialer(b, s.book, s.bans, &s.networks, s.limits, &s.pending)
	return func() actor.Actor {
		t := &Table{shared: s}
		t.ctx, t.cancel = context.WithCancel(context.Background())
		s.dialer.peers = func() connected { return t.peers }
		return t
	}
}

// Receive implements actor.Actor.
func (t *Table) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		t.start(c)
	case *actor.Stopping:
		if t.cfg.Restarted != nil {
			t.cfg.Restarted.Unsubscribe(c)
		}
		t.listener.stop()
		t.saveAnchors(t.peers.anchors()) // before the peers are left
		t.close()
		t.saveAtEnd()
		if s, ok := t.cfg.Source.(io.Closer); ok {
			_ = s.Close()
		}
	case *actor.Restarting:
		t.close()
	case *actor.Terminated:
		t.ended(c, m.Who)
	case peerhandle.Restarted:
		for _, e := range t.peers {
			e.ref.Tell(m)
		}
	case tick:
		defer m.handled()
		t.offered.look()
		t.maintain(c)
		t.retryPrivate(c)
		t.addrs.sendDue()
		t.book.saveDue(t.runner(c), time.Now())
		t.book.checkMap(time.Now())
	case ClockSet:
		t.clockSet()
		t.retryPrivate(c)
	case accepted:
		t.accepted(c, m)
	case evictionQuery:
		evictor{t}.evictFor(c, m)
	case joined:
		t.joined(c, m)
	case relaying:
		evictor{t}.relaying(c, m)
	case addrMessage:
		defer m.handled()
		t.addrs.receive(m.id, m.message)
	case privateMessage:
		t.privateReceived(m)
	case sentBack:
		t.private.sentBack(m)
	case staleJudged:
		t.staleJudged(c, m)
	case localAdded:
		t.printf("AddLocal(%v,%d)", m.Addr, m.Score)
		t.local.add(m.Local)
	case onionProxied:
		t.dialer.reachOnion(m.addr)
	case localRemoved:
		t.printf("RemoveLocal(%v)", m.addr)
		t.local.remove(m.addr)
	case misbehaved:
		t.misbehaved(m)
	default:
		table.Serve(t, c)
	}
}

func (t *Table) count(messages.CountPeers) (messages.PeerCount, error) { return t.peers.count(), nil }

func (t *Table) addNode(c actor.Context, m *ask.Call[messages.AddNode, messages.Done]) {
	err := t.dialer.addNode(m.Req.Node, t.dialer.wantsV2(m.Req.V2))
	if err == nil {
		t.maintain(c)
	}
	m.Answer(messages.Done{}, err)
}

func (t *Table) removeNode(q messages.RemoveNode) (messages.Done, error) {
	return messages.Done{}, t.dialer.removeNode(q.Node)
}

func (t *Table) addedNodes(messages.GetAddedNodes) ([]messages.AddedNode, error) {
	return t.dialer.addedNodes(), nil
}

func (t *Table) ping(messages.PingPeers) (messages.Done, error) {
	for _, e := range t.peers {
		e.session.Ping()
	}
	return messages.Done{}, nil
}

func (t *Table) addresses(q messages.GetNodeAddresses) ([]messages.NodeAddress, error) {
	return t.book.list(&q, t.bans)
}

func (t *Table) addAddress(q messages.AddPeerAddress) (messages.AddedAddress, error) {
	return t.book.add(&q), nil
}

func (t *Table) countAddresses(messages.CountAddresses) ([]messages.AddressCount, error) {
	return t.book.count(), nil
}

func (t *Table) addressTables(messages.GetAddressTables) (messages.AddressTables, error) {
	return t.book.tables(), nil
}

func (t *Table) listBans(messages.ListBans) ([]messages.Ban, error) {
	return t.bans.listed(t.cfg.Now()), nil
}

func (t *Table) clearBans(c actor.Context, m *ask.Call[messages.ClearBans, messages.Done]) {
	t.bans.clear()
	t.bans.save(t.runner(c), func() { m.Answer(messages.Done{}, nil) })
}

// start opens the listeners and begins to connect.
func (t *Table) start(c actor.Context) {
	t.self = mailbox{c.ActorSystem().Root, c.Self()}
	if t.cfg.Restarted != nil {
		t.cfg.Restarted.SubscribeLatest(c)
	}
	t.offered.look()
	t.offered.open = true
	t.printf("SetNetworkActive: %t", t.dialer.active)
	t.listen(c)
	t.serveOnion(t.ctx, t.runner(c), t.self)
	t.dialer.announceAnchors()
	t.book.checkMap(time.Now())
	if t.cfg.NoSeeds && !t.seeds.announced {
		t.seeds.announced = true
		t.printf("DNS seeding disabled")
	}
	t.printf("addcon thread start") // as Core names what begins here: connecting to added nodes,
	if t.cfg.Automatic || len(t.cfg.Connect) > 0 {
		t.printf("opencon thread start") // and to others
	}
	t.tick(c)
	t.maintain(c)
}

// saveAtEnd writes the addresses when the table stops, and the bans that could not be
// written before.
func (t *Table) saveAtEnd() {
	if err := errors.Join(t.book.saveAtEnd(), t.bans.saveAtEnd()); err != nil && t.cfg.NotSaved != nil {
		t.cfg.NotSaved(fmt.Errorf("addresses or bans of peers not saved: %w", err))
	}
}

// close lets go of everything. The children stop after this.
func (t *Table) close() {
	t.cancel()
	for _, e := range t.peers {
		e.session.Close(errStopping)
		t.private.left(e)
	}
	t.tasks.Drop()
	t.bans.file.reset()
	t.book.file.reset()
	t.addrs.reset()
	t.dialer.reset()
	t.private.reset()
	t.seeds.asking = false
	t.pending.close()
	for _, m := range t.evicting {
		m.handled()
	}
	t.evicting, t.peers = nil, nil
}

// runner runs work for the table's components.
func (t *Table) runner(c actor.Context) runner {
	return func(work func() func()) { t.tasks.Go(c, work) }
}

// A mailbox lets workers and neighbours of an actor send it messages.
type mailbox struct {
	root *actor.RootContext
	pid  *actor.PID
}

func (m mailbox) tell(msg any) { m.root.Send(m.pid, msg) }
