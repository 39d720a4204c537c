// Package mempool is the actor that owns the pool of unconfirmed transactions.
//
// Its requests are in table. It publishes every change of the pool.
//
// The pool is a [txpool.Pool]. One worker at a time uses it: for a transaction
// that is checked, whose scripts take long to execute, or for blocks that the
// chain has connected. Read requests are answered between two pieces of work,
// and only when the pool has seen the active tip. A client that was notified of a
// block thus finds the pool as it is after that block.
//
// After a failure the pool is empty, and listeners are notified.
package mempool

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/follow"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
)

// Config is what the actor is made of.
type Config struct {
	Chain *ask.Ref // owns the chain
	View  *chainview.Current
	Tip   *ask.Feed[messages.TipChanged]
	Feed  *ask.Feed[messages.PoolChanged]

	Rules  txpool.Rules
	Policy txpool.Policy

	File    string // in which the pool is kept between two runs
	Persist bool   // false: File is only written by request
	OldFile bool   // in the format of old versions

	Fees *Fees // nil: no fee rates are estimated

	NotSaved func(error) // gets why File was not written at the end; nil: nobody does

	Now func() time.Time
	Log *slog.Logger
}

var table = ask.TableOf(
	ask.On((*Mempool).submit), ask.On((*Mempool).offer), ask.On((*Mempool).test), ask.On((*Mempool).submitPackage),
	ask.On((*Mempool).offerPackage), ask.On((*Mempool).coins), ask.On((*Mempool).savePool), ask.On((*Mempool).loadPool),
	ask.On((*Mempool).advanceTimers),

	reading((*Mempool).getInfo), reading((*Mempool).txs), reading((*Mempool).ids), reading((*Mempool).tx),
	reading((*Mempool).sort), reading((*Mempool).relatives), reading((*Mempool).clusters), reading((*Mempool).cluster),
	reading((*Mempool).chunks), reading((*Mempool).spenders),
	reading((*Mempool).outputs), reading((*Mempool).prioritise), reading((*Mempool).prioritised),
	reading((*Mempool).selectTxs), reading((*Mempool).estimateFee), reading((*Mempool).estimateRaw),
)

// Requests lists what a plain protoactor request may ask.
var Requests = table.Served

// Mempool is the actor; make one with [New].
type Mempool struct {
	cfg    Config
	ctx    context.Context //nolint:containedctx // ends the workers when the actor stops
	cancel context.CancelFunc

	pool          *txpool.Pool
	follower      *follow.Follower
	at            *chainview.Block // the tip that the pool has seen; nil before the first
	disconnected  *disconnected    // transactions of blocks that left the chain; nil: none
	seen          seenBlocks
	looked        *chainview.Chain    // for which the follower was asked for a way last
	held          []messages.PoolStep // that joined the chain then, to be published after that
	unreadableTip *chainview.Block    // tip that the pool cannot get to; nil: it can to all
	leaps         bool                // where the pool begins is to be published

	work  ask.Tasks // at most one, which has the pool
	queue []*task
	reads []func()

	last *messages.BlockSize // that was chosen for last; nil: none was
	file poolFile
	fees fees
}

// New returns the producer of the actor.
func New(cfg Config) actor.Producer {
	begun := false
	return func() actor.Actor {
		policy := cfg.Policy
		policy.Seed = drawSeed()
		m := &Mempool{cfg: cfg, pool: txpool.New(cfg.Rules, policy), seen: make(seenBlocks)}
		m.ctx, m.cancel = context.WithCancel(context.Background())
		m.file = poolFile{m: m, loader: ask.NewLane(1), saver: ask.NewLane(1)}
		m.fees = newFees(m)
		m.follower = follow.New(follow.Config{
			Target: chainTarget{m}, Chain: cfg.View, Tip: cfg.Tip, Batch: stepBlocks, Leaps: true,
			Paused:  func() bool { return m.work.Len() > 0 }, // which has the pool
			Stepped: m.next,
		})
		if begun {
			cfg.Feed.Publish(messages.PoolChanged{Reset: true})
			m.leaps = true
		}
		begun = true
		return m
	}
}

// drawSeed returns a number that peers cannot know.
func drawSeed() uint64 {
	var seed [8]byte
	_, _ = rand.Read(seed[:]) // never fails
	return binary.LittleEndian.Uint64(seed[:])
}

// Receive implements actor.Actor.
func (m *Mempool) Receive(c actor.Context) {
	if m.follower.Receive(c) {
		m.next(c)
		return
	}
	switch msg := c.Message().(type) {
	case *actor.Started:
		m.file.start(c)
		m.fees.start(c)
		m.next(c)
	case *actor.Stopping:
		m.close()
		m.file.saveAtEnd()
		m.fees.saveAtEnd()
	case *actor.Restarting:
		m.close()
	case messages.TipChanged:
		m.unreadableTip = nil
		m.next(c)
	case coinsFound:
		m.found(c, msg)
	case imported:
		m.file.load(c)
	case saveFeesNow:
		m.fees.save(c, func() {})
	case nodemsg.MarkBroadcast:
		m.reads = append(m.reads, func() { m.pool.SetUnbroadcast(&msg.ID, false) })
		m.next(c)
	default:
		table.Serve(m, c)
	}
}

func (m *Mempool) now() int64 { return m.cfg.Now().Unix() }

// moment is the present, for the pool.
func (m *Mempool) moment() txpool.Now { return txpool.Now{Tip: m.at, Time: m.now()} }

// next goes on with the chain first, then with reads, then with the tasks in
// the order in which they came.
func (m *Mempool) next(c actor.Context) {
	for m.work.Len() == 0 && m.current(c) {
		switch {
		case len(m.reads) > 0:
			reads := m.reads
			m.reads = nil
			for _, read := range reads {
				read()
			}
		case len(m.queue) > 0:
			if !m.begin(c, m.queue[0]) {
				return
			}
			m.queue = m.queue[1:]
		default:
			return
		}
	}
}

// publish notifies the listeners what has changed, and what is to be announced to
// peers.
func (m *Mempool) publish(announce []messages.RelayTx) {
	changes := m.pool.TakeChanges()
	m.logRemovals(changes)
	m.fees.see(changes)
	if len(changes) > 0 || len(announce) > 0 {
		m.cfg.Feed.Publish(messages.PoolChanged{Changes: changes, Announce: announce})
	}
}

// logRemovals logs how many transactions a full pool removed, and each
// transaction that left before it was sent to a peer.
func (m *Mempool) logRemovals(changes []messages.PoolChange) {
	n := 0
	log := m.cfg.Log.With("category", "mempool")
	for i := range changes {
		if !changes[i].Added && changes[i].Reason == messages.PoolSizeLimit {
			n++
		}
		if changes[i].Unbroadcast {
			corelog.Printf(log, slog.LevelDebug,
				"Removed %v from set of unbroadcast txns before confirmation that txn was sent out", changes[i].ID)
		}
	}
	if raised := m.pool.Raised(); n > 0 && raised != (txpool.FeeRate{}) {
		corelog.Printf(log, slog.LevelDebug, "Removed %d txn, rolling minimum fee bumped to %v", n, raised)
	}
}

// lease gives the pool to a worker. The function that work returns runs in the
// actor, after the listeners were notified of the changes.
func (m *Mempool) lease(c actor.Context, work func() func(actor.Context)) {
	m.work.Go(c, func() func() {
		then := work()
		return func() {
			m.publish(nil)
			then(c)
			m.next(c)
		}
	})
}

// close ends the workers. The follower has ended before.
func (m *Mempool) close() {
	m.cancel()
	m.work.Drop()
	m.file.close()
	m.fees.close()
}
