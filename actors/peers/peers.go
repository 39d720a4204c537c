// Package peers holds the actors of the node's place in the network: the peer
// table, which owns who is connected, and one child of it for each connection.
//
// The table dials and accepts, numbers connections, and ends them. A child runs
// the session of its connection (package p2p) and hands each message to whoever
// it concerns, as package link says. A session that fails ends alone: a child is
// never restarted, it says goodbye and stops.
package peers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/link"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/messages"
)

// Requests lists what a plain protoactor request may ask.
var Requests = []ask.Served{
	ask.Serve[messages.GetPeers](),
	ask.Serve[messages.CountPeers](),
	ask.Serve[messages.DisconnectPeer](),
	ask.Serve[messages.ConnectPeer](),
	ask.Serve[messages.AddNode](),
	ask.Serve[messages.RemoveNode](),
	ask.Serve[messages.GetAddedNodes](),
	ask.Serve[messages.PingPeers](),
	ask.Serve[messages.SetNetworkActive](),
	ask.Serve[messages.GetNetwork](),
	ask.Serve[messages.GetNodeAddresses](),
	ask.Serve[messages.AddPeerAddress](),
	ask.Serve[messages.CountAddresses](),
	ask.Serve[messages.SetBan](),
	ask.Serve[messages.ListBans](),
	ask.Serve[messages.ClearBans](),
}

type (
	getPeers         = ask.Call[messages.GetPeers, []messages.PeerInfo]
	countPeers       = ask.Call[messages.CountPeers, messages.PeerCount]
	disconnectPeer   = ask.Call[messages.DisconnectPeer, messages.Done]
	connectPeer      = ask.Call[messages.ConnectPeer, messages.Done]
	addNode          = ask.Call[messages.AddNode, messages.Done]
	removeNode       = ask.Call[messages.RemoveNode, messages.Done]
	getAddedNodes    = ask.Call[messages.GetAddedNodes, []messages.AddedNode]
	pingPeers        = ask.Call[messages.PingPeers, messages.Done]
	setNetworkActive = ask.Call[messages.SetNetworkActive, messages.Done]
	getNetwork       = ask.Call[messages.GetNetwork, messages.NetworkState]
	getNodeAddresses = ask.Call[messages.GetNodeAddresses, []messages.NodeAddress]
	addPeerAddress   = ask.Call[messages.AddPeerAddress, messages.AddedAddress]
	countAddresses   = ask.Call[messages.CountAddresses, []messages.AddressCount]
	setBan           = ask.Call[messages.SetBan, messages.Done]
	listBans         = ask.Call[messages.ListBans, []messages.Ban]
	clearBans        = ask.Call[messages.ClearBans, messages.Done]
)

// Table is the actor that owns who is connected; make one with [New].
type Table struct {
	*shared

	ctx    context.Context //nolint:containedctx // ends dialing and listening when the actor stops
	cancel context.CancelFunc
	self   mailbox

	peers   []*entry // by ascending id
	dials   map[*dial]struct{}
	workers workers
}

// shared is what the instances of the table have in common.
type shared struct {
	*base

	nonces p2p.Nonces
	totals p2p.Totals
	nextID atomic.Int64

	// One instance at a time uses these.
	added      []*addedNode
	active     bool
	accepting  []*ask.Worker
	nextFeeler time.Time

	secret   secret
	networks networks
	bans     *bans
	book     *addrBook
	addrs    *addrRelay
	seeds    *seeder

	stopped chan struct{} // closed when the table stops for good
	transit transit
}

// New returns the producer of the table.
func New(cfg Config) actor.Producer {
	cfg.setDefaults()
	s := &shared{
		base: newBase(cfg), active: !cfg.Inactive, stopped: make(chan struct{}),
		networks: networks{cfg.Reachable, cfg.Proxies, cfg.ProxyRandomize},
	}
	_, _ = rand.Read(s.secret[:]) // never fails
	s.bans, s.book = loadBans(s.base), newAddrBook(s.base)
	s.addrs = newAddrRelay(s.base, s.book, s.bans, &s.networks, &s.secret)
	s.seeds = &seeder{base: s.base, secret: &s.secret}
	for _, node := range cfg.Connect {
		s.added = append(s.added, &addedNode{name: node, v2: cfg.V2, hidden: true})
	}
	for _, node := range cfg.Added {
		s.added = append(s.added, &addedNode{name: node, v2: cfg.V2})
	}
	return func() actor.Actor {
		t := &Table{shared: s, dials: make(map[*dial]struct{})}
		t.ctx, t.cancel = context.WithCancel(context.Background())
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
		t.stopAccepting()
		t.close()
		t.saveAtEnd()
	case *actor.Restarting:
		t.close()
	case finished:
		t.workers.forget(m)
		t.handle(c, m.result)
	default:
		t.handle(c, m)
	}
}

func (t *Table) handle(c actor.Context, msg any) {
	switch m := msg.(type) {
	case nil:
	case *actor.Terminated:
		t.ended(c, m.Who)
	case link.Restarted:
		for _, e := range t.peers {
			e.ref.Tell(m)
		}
	case tick:
		defer m.handled()
		t.maintain(c)
		t.addrs.sendDue()
		t.book.saveDue(t.runner(c), time.Now())
	case ClockSet:
		t.clockSet()
	case accepted:
		t.accepted(c, m)
	case merit:
		t.makeRoom(c, m)
	case dialed:
		t.dialed(c, m)
	case joined:
		t.joined(m)
	case addrMessage:
		defer m.handled()
		t.addrs.receive(m.id, m.message)
	case func(): // of a runner
		if m != nil {
			m()
		}
	case misbehaved:
		t.misbehaved(m)
	default:
		t.serve(c, m)
	}
}

func (t *Table) serve(c actor.Context, msg any) {
	switch m := msg.(type) {
	case *getPeers:
		m.Answer(t.infos(), nil)
	case *countPeers:
		m.Answer(t.count(), nil)
	case *disconnectPeer:
		m.Answer(messages.Done{}, t.disconnect(&m.Req))
	case *connectPeer:
		t.connectOnce(c, m)
	case *addNode:
		m.Answer(messages.Done{}, t.addNode(c, m.Req.Node, t.wantsV2(m.Req.V2)))
	case *removeNode:
		m.Answer(messages.Done{}, t.removeNode(m.Req.Node))
	case *getAddedNodes:
		m.Answer(t.addedNodes(), nil)
	case *pingPeers:
		for _, e := range t.peers {
			e.session.Ping()
		}
		m.Answer(messages.Done{}, nil)
	case *setNetworkActive:
		t.setActive(m.Req.Active)
		m.Answer(messages.Done{}, nil)
	case *getNodeAddresses:
		m.Answer(t.book.list(&m.Req))
	case *addPeerAddress:
		m.Answer(t.book.add(&m.Req), nil)
	case *countAddresses:
		m.Answer(t.book.count(), nil)
	case *setBan:
		t.setBan(c, m)
	case *listBans:
		m.Answer(t.bans.listed(t.cfg.Now()), nil)
	case *clearBans:
		t.bans.clear()
		t.bans.save(t.runner(c), func() { m.Answer(messages.Done{}, nil) })
	case *getNetwork:
		m.Answer(t.network(), nil)
	default:
		ask.Unhandled(c)
	}
}

// setBan bans a range of addresses, whose peers it leaves, or takes a ban back.
func (t *Table) setBan(c actor.Context, m *setBan) {
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

// discourage remembers an address, and leaves its peers.
func (t *Table) discourage(addr netaddr.Addr) {
	t.bans.discourage(addr)
	host := addr.WithPort(0)
	t.closeAll("address", errMisbehaving, func(e *entry) bool { return e.addr.WithPort(0) == host })
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

// start opens the listeners and begins to connect.
func (t *Table) start(c actor.Context) {
	t.self = mailbox{c.ActorSystem().Root, c.Self()}
	if t.cfg.Restarted != nil {
		t.cfg.Restarted.Subscribe(c)
	}
	t.accept(c)
	if t.cfg.NoSeeds && t.seeds.began.IsZero() {
		t.printf("DNS seeding disabled")
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
	}
	t.workers.drop()
	t.bans.file.reset()
	t.book.file.reset()
	t.addrs.reset()
	t.transit.close()
	t.peers = nil
}

// A mailbox is where an actor's workers and neighbours send what they have for
// it.
type mailbox struct {
	root *actor.RootContext
	pid  *actor.PID
}

func (m mailbox) tell(msg any) { m.root.Send(m.pid, msg) }

// workers are the goroutines of an actor.
type workers map[*ask.Worker]struct{}

// start runs work. What it returns is delivered as with ask.Go.
func (w *workers) start(c actor.Context, work func() any) {
	if *w == nil {
		*w = make(workers)
	}
	done := make(chan *ask.Worker, 1)
	worker := ask.Go(c, func() any {
		result := work()
		return finished{<-done, result}
	})
	done <- worker
	(*w)[worker] = struct{}{}
}

// runner runs work for the table's parts.
func (t *Table) runner(c actor.Context) runner {
	return func(work func() func()) { t.workers.start(c, func() any { return work() }) }
}

// finished is what a worker of an actor has brought.
type finished struct {
	worker *ask.Worker
	result any
}

func (w *workers) forget(f finished) { delete(*w, f.worker) }

// drop waits for all workers and forgets what they bring.
func (w *workers) drop() {
	for worker := range *w {
		worker.Drop()
	}
	clear(*w)
}

// errStopping ends sessions when the node stops.
var errStopping = fmt.Errorf("node is stopping: %w", p2p.ErrClosed)
