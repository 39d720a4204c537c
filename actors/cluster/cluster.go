// Package cluster is the actor by which nodes scan together. As a coordinator it leases heights of this
// node's passes to worker nodes, and as a worker node it matches heights for others. Options and RPC
// call the coordinator a front, and the worker nodes its members.
//
// The first answer of a worker node finishes the lease of a range of heights. A worker node that is
// gone, is silent or refuses costs only time: its ranges come back, and another worker node, or in
// the end this node, matches them. So a result never counts as complete over heights that
// nobody has answered.
//
// Its requests are in table. Messages of other nodes come through a [Link]. They may be lost, so each
// is sent again until it is answered.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/cluster/wire"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
)

// A Link carries frames between nodes, as a *link.Link of the package link below does. Frames may
// be lost. None of its methods but Close waits.
type Link interface {
	// Open begins to listen. frame is called for each frame of another node, with the address
	// of that node, and with taken, to be called once the frame was handled. Open's gone is
	// called when a watched node has disappeared. Neither waits.
	Open(frame func(from string, frame []byte, taken func()), gone func(address string)) error
	Send(address string, frame []byte)
	Watch(address string)
	State() (address string, refused uint64)
	Close() error
}

// Options are what an operator chooses.
type Options struct {
	Link  Link     // to the other nodes
	Nodes []string // host:port of worker nodes; a name stands for all addresses that it has
	Serve bool     // work for others
	Local bool     // work on own scans beside the worker nodes; it does in any case while there are none

	// Threads is how many threads work for others at a time, at most, beside the threads of the
	// node's own scans. Default: none of their own; work for others takes turns with the node's own
	// scans on the same threads.
	Threads int

	// After is how long a pass runs here before heights of it are leased: a shorter pass is not worth
	// the network. Default: [DefaultAfter].
	After time.Duration

	// Memory bounds the kept scripts of other nodes' scans, in bytes. Default: [DefaultMemory].
	Memory int64

	// PassOn is the size in bytes from which on worker nodes get the scripts of a scan from each other,
	// each from the worker node before it. Default: [DefaultPassOn].
	PassOn int64

	// Audit is the part of the answers of worker nodes that is held against this node's own, from
	// 0 to 1.
	Audit float64
}

// Defaults of [Options]. The memory is enough for eight million scripts.
const (
	DefaultMemory = 1 << 30
	DefaultAfter  = 100 * time.Millisecond
	DefaultPassOn = 64 << 20
)

// Config is what the actor is made of.
type Config struct {
	Options

	Network string // name of the chain
	Build   string // version of the program
	Workers int    // that match at a time

	Scheduler *match.Scheduler
	forOthers *match.Scheduler // of the work for others
	Chain     *chainview.Current
	HeaderLen func(raw []byte) int // bytes before a block's transactions

	// Header returns the filter header of a block (BIP157), and an error where its filter is
	// not there.
	Header func(block *chainhash.Hash) (chainhash.Hash, error)

	// Resolve returns the addresses of a name. Default: what the system says.
	Resolve func(ctx context.Context, host string) ([]string, error)

	Log *slog.Logger
}

var table = ask.TableOf(ask.On((*Cluster).leaseFrom), ask.AtOnce((*Cluster).endLeases), ask.AtOnce((*Cluster).state))

// Requests lists what a plain protoactor request may ask.
var Requests = table.Served

type leaseHeights = ask.Call[match.LeaseHeights, messages.Done]

// Messages to the actor from its link, and from its timer.
type (
	frame struct {
		from  string
		data  []byte
		taken func()
	}
	gone struct{ address string }
	tick struct{}
)

// Connect opens a link whose messages go to an actor of this package. Where it cannot be opened,
// the actor is stopped.
func Connect(ctx context.Context, link Link, to *ask.Ref) error {
	err := link.Open(
		func(from string, data []byte, taken func()) { to.Tell(frame{from, data, taken}) },
		func(address string) { to.Tell(gone{address}) },
	)
	if err != nil {
		return errors.Join(messages.StartError(fmt.Sprintf("The cluster cannot be joined: %v", err)), to.Stop(ctx))
	}
	return nil
}

// Cluster is the actor; make one with [New].
type Cluster struct {
	cfg         Config
	coordinator *coordinator
	workerNode  *workerNode
	tasks       ask.Tasks
	timer       ask.Timer
}

// New returns the producer of the actor.
func New(cfg Config) actor.Producer {
	if cfg.Memory == 0 {
		cfg.Memory = DefaultMemory
	}
	if cfg.After == 0 {
		cfg.After = DefaultAfter
	}
	if cfg.PassOn == 0 {
		cfg.PassOn = DefaultPassOn
	}
	if cfg.Resolve == nil {
		cfg.Resolve = net.DefaultResolver.LookupHost
	}
	cfg.forOthers = cfg.Scheduler
	if cfg.Threads > 0 {
		cfg.Workers = min(cfg.Threads, cfg.Workers)
		cfg.forOthers = cfg.Scheduler.Apart(cfg.Workers)
	}
	return func() actor.Actor {
		k := &Cluster{cfg: cfg}
		k.coordinator, k.workerNode = newCoordinator(&k.cfg, &k.tasks), newWorkerNode(&k.cfg, &k.tasks)
		return k
	}
}

// Receive implements actor.Actor.
func (k *Cluster) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started, tick:
		k.tick(c)
	case *actor.Stopping, *actor.Restarting:
		k.close()
	case frame:
		defer m.taken()
		k.receive(c, m)
	case gone:
		k.coordinator.gone(c, m.address)
		k.workerNode.gone(m.address)
	default:
		table.Serve(k, c)
	}
}

func (k *Cluster) leaseFrom(c actor.Context, m *leaseHeights) {
	k.coordinator.leaseFrom(m)
	k.wake(c, time.Now())
}

func (k *Cluster) endLeases(q match.EndLeases) (messages.Done, error) {
	k.coordinator.end(q.Pass)
	return messages.Done{}, nil
}

// receive looks at a message of another node.
func (k *Cluster) receive(c actor.Context, f frame) {
	m, err := wire.Parse(f.data)
	if err != nil {
		return
	}
	switch m.Kind {
	case wire.Hello, wire.Open, wire.Chunk, wire.Unit, wire.Cancel, wire.Close:
		k.workerNode.receive(c, f.from, m)
	case wire.Fetch, wire.Piece:
		k.workerNode.passOn(c, f.from, m)
	case wire.Welcome, wire.Refused, wire.Unknown, wire.Opened, wire.Taken, wire.Done:
		k.coordinator.receive(c, m)
	}
}

const (
	busyTick = 50 * time.Millisecond // while there is something to lease
	idleTick = 250 * time.Millisecond
)

// tick does what is due, and sets the timer again.
func (k *Cluster) tick(c actor.Context) {
	now := time.Now()
	k.coordinator.tick(c, now)
	k.workerNode.tick(now)
	k.wake(c, now)
}

// wake sets the timer, which has been set for later.
func (k *Cluster) wake(c actor.Context, now time.Time) { k.timer.Set(c, k.next(now), tick{}) }

// next returns the time until something is due.
func (k *Cluster) next(now time.Time) time.Duration {
	after := idleTick
	for _, j := range k.coordinator.jobs {
		after = min(after, busyTick)
		if !j.waited {
			after = min(after, max(k.cfg.After-now.Sub(j.began), 0))
		}
	}
	return after
}

// close ends all that goes on. Callers are answered by the guard of the actor.
func (k *Cluster) close() {
	k.timer.Stop()
	k.coordinator.close()
	k.workerNode.close()
	k.tasks.Drop()
}

func (k *Cluster) state(messages.GetCluster) (messages.Cluster, error) {
	s := messages.Cluster{Local: k.cfg.Local, Serves: k.cfg.Serve}
	s.Address, s.Refused = k.cfg.Link.State()
	k.coordinator.state(&s)
	k.workerNode.state(&s)
	return s, nil
}

// send sends a message to a node.
func (cfg *Config) send(address string, m *wire.Message) {
	const rest = 256 // of most, beside the scripts
	cfg.Link.Send(address, m.Append(make([]byte, 0, len(m.Data)+rest)))
}
