// Package searches is the actor that owns the searches that a node keeps.
//
// Blocks are looked at in rounds, one after the other. A round is a pass over a range of
// blocks with the scripts of all searches that need them, in the workers of the node's
// [match.Scheduler]. Its results are reported once they are on the disk, together with the
// height that is done. A search thus goes on where it was, whenever the program ends.
package searches

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// Config is what the actor is made of.
type Config struct {
	Store     *searchdb.Store
	Lists     Lists // what searches have found; nil: Store
	Scheduler *match.Scheduler
	Chain     *chainview.Current
	Tip       *ask.Feed[messages.TipChanged]
	Indexer   *ask.Ref
	HeaderLen func(raw []byte) int // bytes before a block's transactions
	Fetch     chainview.Fetch      // gets blocks that were pruned; nil where none are
	Limits    Limits
	Network   *descriptor.Network      // of scan objects with a gap
	News      *ask.Feed[messages.News] // nil: nobody is notified

	// Pool owns the unconfirmed transactions and publishes its changes. Absent: there is
	// none.
	Pool    *ask.Ref
	Changes *ask.Feed[messages.PoolChanged]

	// Room returns how many bytes are free on the disk of the store, and how many it has.
	// Nil: there is always room.
	Room func() (free, total uint64, err error)

	// LeastRoom is with how many bytes free all pause; 0: the larger of 2 GiB and 5 %.
	LeastRoom uint64

	Now func() time.Time
	Log *slog.Logger
}

// Lists are what searches have found. A [searchdb.Store] has them.
type Lists interface {
	Entries(id searchdb.ID, after, to searchdb.Place, visit func(searchdb.Place, *search.Entry) bool) error
}

// Limits bound the searches.
type Limits struct {
	Searches int    // that are kept
	Scripts  int    // of all of them
	Entries  uint64 // of all of them
	Quota    int    // searches of one login; 0: no limit
	Pool     int    // unconfirmed entries of all of them; 0: a million
}

// pool returns how many unconfirmed entries are kept of all searches together. Searches
// that have more report that entries are missing, and get the rest as soon as there is
// room.
func (l *Limits) pool() int { return cmp.Or(l.Pool, 1_000_000) }

// Choices bound the searches that are kept. A number of 0 is its default.
type Choices struct {
	Searches int   // default 1,000
	Scripts  int   // of all of them; default 10 million
	Entries  int64 // of all of them; default 100 million
	Quota    int   // searches of one login; default: no limit

	// LeastRoom is with how many bytes free on the disk all pause. Default: the larger of 2 GiB and 5 % of the disk.
	LeastRoom int64
}

// Limits returns the limits that are chosen.
func (c Choices) Limits() Limits {
	return Limits{
		Searches: cmp.Or(c.Searches, 1_000), Scripts: cmp.Or(c.Scripts, 10_000_000), Quota: c.Quota,
		Entries: uint64(cmp.Or(c.Entries, 100_000_000)),
	}
}

// requests are served by a reading, which has the methods of Searches, too.
var requests = ask.TableOf(
	onceLoaded(reading.get), onceLoaded(reading.list), onceLoaded(reading.scope), whileUp(reading.entries),
	whileUp(reading.wait),
	whileUp(reading.create), whileUp(reading.extend), whileUp(reading.remove),
	whileUp(reading.pause), whileUp(reading.resume), whileUp(reading.abort),
)

// Requests lists what a plain protoactor request may ask.
var Requests = requests.Served

// onceLoaded makes the handler of requests that wait until all searches have been read.
func onceLoaded[Q messages.Request[R], R any](serve func(reading, *ask.Call[Q, R])) ask.Handler[reading] {
	return ask.On(func(s reading, _ actor.Context, m *ask.Call[Q, R]) {
		if !s.loaded {
			s.early = append(s.early, func() { serve(s, m) })
			return
		}
		serve(s, m)
	})
}

// whileUp makes the handler of requests that are refused while the store takes nothing.
func whileUp[Q messages.Request[R], R any](serve func(reading, *ask.Call[Q, R])) ask.Handler[reading] {
	return onceLoaded(func(s reading, m *ask.Call[Q, R]) {
		if s.down {
			m.Answer(*new(R), messages.ErrSearchStore)
			return
		}
		serve(s, m)
	})
}

type (
	wait   = ask.Call[messages.WaitSearch, messages.SearchPage]
	extend = ask.Call[messages.ExtendSearch, messages.SearchStatus]
)

// Searches is the actor; make one with [New].
type Searches struct {
	cfg    Config
	ctx    context.Context //nolint:containedctx // ends the workers
	cancel context.CancelFunc
	tasks  ask.Tasks
	c      actor.Context // of the actor; the same for every message

	loaded bool
	early  []func() // serve the requests that came before
	table
	rounds      rounds
	writer      writer
	modes       modeWriter
	opening     int // how often the store has failed
	writes      int // that go on
	waiters     waiters
	unconfirmed unconfirmed
	prep        preparation
	down        bool   // the store takes nothing
	full        string // why all pause; empty: they do not
}

// Messages of the actor to itself.
type (
	look    struct{} // at what is to be done
	indexed struct {
		stop *chainview.Block
		err  error
	}
)

// New returns the producer of the actor.
func New(cfg Config) actor.Producer {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Lists == nil {
		cfg.Lists = cfg.Store
	}
	return func() actor.Actor {
		s := &Searches{cfg: cfg, table: newTable()}
		s.ctx, s.cancel = context.WithCancel(context.Background())
		return s
	}
}

// Receive implements actor.Actor.
func (s *Searches) Receive(c actor.Context) {
	s.c = c
	switch m := c.Message().(type) {
	case *actor.Started:
		s.cfg.Tip.SubscribeLatest(c)
		s.load()
	case *actor.Stopping, *actor.Restarting:
		s.stop(c)
	case messages.TipChanged:
		s.plan()
	case look:
		s.rounds.looking = false
		s.plan()
	case batched:
		s.rounds.timer = false
		s.plan()
	case indexed:
		planner{s}.indexed(m)
	case askAgain:
		planner{s}.askAgain()
	case paced:
		s.rounds.pacing = false
		s.plan()
	case sweepNow:
		s.writer.sweepTimer = false
		s.sweep()
	case flushNow:
		s.writer.timer = false
		s.flush()
	case overdue:
		reading{s}.overdue(m)
	case poolContents, poolCoins, messages.PoolChanged, poolAgain:
		mempool{s}.receive(m)
	default:
		requests.Serve(reading{s}, c)
	}
}

func (s *Searches) pause(m *ask.Call[messages.PauseSearch, bool]) {
	s.order(m.Req.ID, searchdb.Paused, m.Answer, searchdb.Running)
}

func (s *Searches) resume(m *ask.Call[messages.ResumeSearch, bool]) {
	s.order(m.Req.ID, searchdb.Running, m.Answer, searchdb.Paused)
}

func (s *Searches) abort(m *ask.Call[messages.AbortSearch, bool]) {
	s.order(m.Req.ID, searchdb.Aborted, m.Answer, searchdb.Running, searchdb.Paused)
}

func (s reading) get(m *ask.Call[messages.GetSearch, messages.SearchStatus]) {
	if j := s.find(m.Req.ID); j != nil {
		m.Answer(s.fullStatus(j), nil)
		return
	}
	m.Answer(messages.SearchStatus{}, messages.ErrSearchNotFound)
}

// load reads all searches, at the start and after a write that failed.
func (s *Searches) load() {
	s.loaded = false
	s.tasks.Go(s.c, func() func() {
		list, err := s.cfg.Store.Load()
		return func() { s.have(list, err) }
	})
}

func (s *Searches) have(list []*searchdb.Search, err error) {
	if err != nil {
		panic(fmt.Errorf("searches: %w", err)) // a fresh actor tries again
	}
	before := s.jobs
	s.reset(list)
	s.loaded = true
	s.unconfirmed.holders, s.unconfirmed.entries, s.unconfirmed.cut = nil, 0, false
	mempool{s}.lookAll()
	for _, j := range before {
		j.release()
	}
	reading{s}.reloaded()
	usage{s}.findUsed()
	early := s.early
	s.early = nil
	for _, serve := range early {
		serve()
	}
	s.sweep()
	s.plan()
}

// stop ends all workers. Callers are answered by the guard of the actor.
func (s *Searches) stop(c actor.Context) {
	s.cfg.Tip.Unsubscribe(c)
	s.cancel()
	s.tasks.Drop()
	s.waiters.stop()
	mempool{s}.leave()
}

// after sends the actor a message in a while.
func (s *Searches) after(d time.Duration, message any) {
	self, root, ctx := s.c.Self(), s.c.ActorSystem().Root, s.ctx
	time.AfterFunc(d, func() {
		if ctx.Err() == nil {
			root.Send(self, message)
		}
	})
}
