// Package corepool is the actor that owns the mirror of the pool of unconfirmed
// transactions of the node that this one is attached to. Nothing is judged here.
//
// It serves what package mempool does, as far as a mirror can: a transaction is handed to the other node, and what
// needs a pool of one's own is [messages.ErrFollows]. Its requests are in table. It publishes every change.
//
// The other pool is listed when the chain moves, by request, and each second, more seldom
// where that takes long: no more than a twentieth of the time goes into it. Only what is
// new is asked for. While the other node does not answer, or reads its own pool from disk,
// what is here is kept. Workers list, fetch and parse. One worker at a time has the pool,
// to compare it, and reads wait meanwhile.
//
// After a failure the pool is empty, and listeners are notified.
package corepool

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corenode/poolcopy"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// DefaultLimits bound the mirror. Core's own pool, by default, takes 300 MB of memory, which
// is about half of that serialized.
var DefaultLimits = poolcopy.Limits{Bytes: 512 << 20, Txs: 800_000}

// A Node is what this node is attached to. Its methods may be called side by side.
type Node interface {
	// Call calls a method and reads its result into to.
	Call(ctx context.Context, to any, method string, params ...any) error

	// Batch calls a method once for each element of params. Where a call was refused
	// its error is in errs, which may be nil.
	Batch(ctx context.Context, method string, params [][]any) (results []json.RawMessage, errs []error, err error)
}

// Config is what the actor is made of.
type Config struct {
	Node  Node
	Chain *ask.Ref // follows on request
	View  *chainview.Current
	Tip   *ask.Feed[messages.TipChanged]
	Feed  *ask.Feed[messages.PoolChanged]

	Limits  poolcopy.Limits
	MaySend bool // hand transactions to the other node
	Log     *slog.Logger
}

var table = ask.TableOf(
	ask.On((*Mirror).submit), ask.On((*Mirror).contents), ask.On((*Mirror).spenders),
	ask.On((*Mirror).clusters), ask.On((*Mirror).coins), ask.On((*Mirror).followPool),

	reading((*Mirror).info), reading((*Mirror).state), reading((*Mirror).ids), reading((*Mirror).tx),

	refusing[messages.TestTxs](), refusing[messages.SubmitPackage](), refusing[messages.GetPoolRelatives](),
	refusing[messages.GetPoolCluster](), refusing[messages.GetPoolChunks](),
	refusing[messages.PrioritiseTx](), refusing[messages.GetPrioritised](), refusing[messages.SavePool](),
	refusing[messages.LoadPool](), refusing[messages.SelectTxs](),
)

// Requests lists what a plain protoactor request may ask.
var Requests = table.Served

type followPool = ask.Call[nodemsg.FollowPool, messages.Done]

// Mirror is the actor; make one with [New].
type Mirror struct {
	cfg    Config
	ctx    context.Context //nolint:containedctx // ends what is asked when the actor stops
	cancel context.CancelFunc

	pool   *poolcopy.Pool
	tasks  ask.Tasks
	leased bool // a worker has the pool
	reads  []func()

	look    *look         // under way; nil: none
	waiting []*followPool // to be answered by the look after that
	timer   ask.Timer     // of the next look
	due     time.Time     // of that look
	free    time.Time     // when the next look may begin by request
	away    bool          // the other node did not answer last
	retry   time.Duration
	seen    chainhash.Hash // tip of the chain at the last look
	at      chainhash.Hash // tip of the other chain when its pool was listed last; zero: not known

	updated time.Time
	reason  string
}

// dueNow says that it is time for a look.
type dueNow struct{}

// New returns the producer of the actor.
func New(cfg Config) actor.Producer {
	begun := false
	return func() actor.Actor {
		p := &Mirror{
			cfg: cfg, pool: poolcopy.New(cfg.Limits), away: true, retry: minInterval, reason: "It was not read yet",
		}
		p.ctx, p.cancel = context.WithCancel(context.Background())
		if begun {
			cfg.Feed.Publish(messages.PoolChanged{Reset: true})
		}
		begun = true
		return p
	}
}

// Receive implements actor.Actor.
func (p *Mirror) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		p.cfg.Tip.SubscribeLatest(c)
		p.begin(c)
	case *actor.Stopping, *actor.Restarting:
		p.cfg.Tip.Unsubscribe(c)
		p.cancel()
		p.timer.Stop()
		p.tasks.Drop()
	case chainFollowed:
		p.chainFollowed(c, m)
	case coinsFound:
		p.coinsFound(c, m)
	case dueNow:
		p.begin(c)
	case messages.TipChanged:
		if m.Hash != p.seen {
			p.soon(c)
		}
	default:
		table.Serve(p, c)
	}
}

func (p *Mirror) followPool(c actor.Context, m *followPool) {
	p.waiting = append(p.waiting, m)
	p.soon(c)
}

// soon has the next look begin as soon as it may.
func (p *Mirror) soon(c actor.Context) {
	if p.look != nil || p.timer.IsSet() && !p.due.After(p.free) {
		return // the look that comes anyway
	}
	p.after(c, time.Until(p.free))
}

// after has the next look begin after a while.
func (p *Mirror) after(c actor.Context, wait time.Duration) {
	wait = max(wait, 0)
	p.due = time.Now().Add(wait)
	p.timer.Set(c, wait, dueNow{})
}

// lease gives the pool to a worker. The function that work returns runs in the actor.
func (p *Mirror) lease(c actor.Context, work func() func()) {
	p.leased = true
	p.tasks.Go(c, func() func() {
		then := work()
		return func() {
			p.leased = false
			reads := p.reads
			p.reads = nil
			for _, read := range reads {
				read()
			}
			then()
		}
	})
}

// read reads the pool, or adds to it, when no worker has it.
func (p *Mirror) read(read func()) {
	if p.leased {
		p.reads = append(p.reads, read)
		return
	}
	read()
}

func (p *Mirror) publish(changes ...messages.PoolChange) {
	if len(changes) > 0 {
		p.cfg.Feed.Publish(messages.PoolChanged{Changes: changes})
	}
}
