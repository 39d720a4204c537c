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
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/access"
	"github.com/seed61375155/trawl/internal/p2p/addrman"
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

	peers    []*entry // by ascending id
	banSaver saver
	dials    map[*dial]struct{}
	workers  workers
}

// shared is what the instances of the table have in common.
type shared struct {
	cfg     Config
	log     *slog.Logger
	addrLog *slog.Logger
	nonces  p2p.Nonces
	totals  p2p.Totals
	nextID  atomic.Int64

	// One instance at a time uses these.
	added     []*addedNode
	active    bool
	accepting []*ask.Worker
	bans      access.Bans
	addrs     *addrman.Manager
	answers   map[string]answer // to requests for addresses

	addrsChanged bool
	nextSave     time.Time // of the addresses
	nextFeeler   time.Time
	began        time.Time // to look for peers
	seeding      bool      // DNS seeds were asked, or need not be

	discouraged map[netaddr.Addr]struct{} // without ports

	secret [16]byte

	stopped chan struct{} // closed when the table stops for good
	transit transit
}

// New returns the producer of the table.
func New(cfg Config) actor.Producer {
	cfg.setDefaults()
	s := &shared{cfg: cfg, log: cfg.Log.With(slog.String(corelog.CategoryKey, "net")), active: !cfg.Inactive, stopped: make(chan struct{}), answers: make(map[string]answer)}
	s.addrLog = cfg.Log.With(slog.String(corelog.CategoryKey, "addrman"))
	_, _ = rand.Read(s.secret[:]) // never fails
	if s.addrs = cfg.Addrs; s.addrs == nil {
		s.addrs = addrman.New()
	}
	if cfg.Dir != "" {
		s.loadBans()
	}
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
		t.sendAddrs()
		t.writeAddrs(c)
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
	case gossiped:
		t.gossiped(m)
	case seeded:
		t.seeded(m)
	case saved:
		t.saved(c, m)
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
		m.Answer(t.nodeAddresses(&m.Req))
	case *addPeerAddress:
		m.Answer(t.addAddress(&m.Req), nil)
	case *countAddresses:
		m.Answer(t.countAddresses(), nil)
	case *setBan:
		t.setBan(c, m)
	case *listBans:
		t.listBans(m)
	case *clearBans:
		t.clearBans(c, m)
	case *getNetwork:
		m.Answer(t.network(), nil)
	default:
		ask.Unhandled(c)
	}
}

// start opens the listeners and begins to connect.
func (t *Table) start(c actor.Context) {
	t.self = mailbox{c.ActorSystem().Root, c.Self()}
	if t.cfg.Restarted != nil {
		t.cfg.Restarted.Subscribe(c)
	}
	t.accept(c)
	if t.cfg.NoSeeds && t.began.IsZero() {
		t.printf("DNS seeding disabled")
	}
	t.tick(c)
	t.maintain(c)
}

// close lets go of everything. The children stop after this.
func (t *Table) close() {
	t.cancel()
	for _, e := range t.peers {
		e.session.Close(errStopping)
	}
	t.workers.drop()
	t.transit.close()
	t.peers = nil
}

// printf writes a line of Core's that everyone sees.
func (s *shared) printf(format string, args ...any) {
	corelog.Printf(s.cfg.Log, slog.LevelInfo, format, args...)
}

// debugf writes a line of Core's category net.
func (s *shared) debugf(format string, args ...any) {
	corelog.Printf(s.log, slog.LevelDebug, format, args...)
}

// logLine writes a line of a session. It may be called from anywhere.
func (s *shared) logLine(line string) { s.debugf("%s", line) }

// logs reports whether lines of category net are written.
func (s *shared) logs() bool { return s.log.Enabled(context.Background(), slog.LevelDebug) }

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
