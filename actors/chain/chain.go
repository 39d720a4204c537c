// Package chain is the actor that owns the chain: it alone changes it.
//
// Its requests are in table. It announces every change of the tip. Validation may take long, so it runs in
// one worker at a time. Requests are carried out in the order they came; between them, the blocks of peers
// and the reading of block files go on. Checks of a block that need no chain run on other cores, before
// the block's turn.
//
// Readers do not ask this actor: they use the [chainview.Current] that it sets.
package chain

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/engine/pruning"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// Config is what the actor is made of.
type Config struct {
	// Open opens the chain; it is called again when the actor is restarted.
	Open func(ctx context.Context) (engine.Engine, error)

	Network *dialect.Network
	Aux     nodemsg.AuxBlocks
	Files   []string // of blocks to import, in order
	Current *chainview.Current
	Tip     *ask.Feed[messages.TipChanged]
	Now     func() time.Time // the node's clock; nil: the real one

	// Moved gets each step of the tip where the network has stale blocks counted, and Initial shows
	// which are of the initial download. Nil: nobody is notified.
	Moved   *ask.Feed[chainview.TipMoved]
	Initial *chainview.InitialDownload

	Warned   *ask.Feed[nodemsg.WarningChanged] // is told of a long chain that is not valid; nil: nobody is
	Log      *slog.Logger
	OnFailed func(error) // is given the reason why the actor stops for good
}

var table = ask.TableOf(
	ask.AtOnce((*Chain).importStatus), ask.AtOnce((*Chain).getTip), ask.AtOnce((*Chain).attachState),
	ask.On((*Chain).waitImported), ask.On((*Chain).waitOpen), ask.On((*Chain).waitTip),

	fromPeer((*Chain).acceptBlocks), written(acceptHeaders), written(restore), written(recoverWitnesses),

	queued((*Chain).follow), queued((*Chain).loadSnapshot), queued((*Chain).generate),
	queued(snapshotJob), queued(getCoins), queued(setPruneLock),

	changes(done(func(e engine.Engine, q *messages.SubmitBlock) error { return e.Submit(q.Raw) })),
	changes(done(func(e engine.Engine, q *messages.InvalidateBlock) error { return e.Invalidate(&q.Hash) })),
	changes(done(func(e engine.Engine, q *messages.ReconsiderBlock) error { return e.Reconsider(&q.Hash) })),
	changes(done(func(e engine.Engine, q *messages.PreciousBlock) error { return e.Precious(&q.Hash) })),
	changes(done(func(e engine.Engine, q *messages.PruneBlocks) error { return e.Prune(q.Height) })),
	changes(done(func(e engine.Engine, _ *nodemsg.StartPruning) error { return e.StartPruning() })),
	changes((*Chain).submitAux), changes((*Chain).generateOne), changes(setMockTime), changes(getCoin),

	looks(done(func(e engine.Engine, q *messages.ProposeBlock) error { return e.Propose(q.Raw) })),
	looks((*Chain).createAux), looks((*Chain).verify), looks(makeTemplate), looks(states),
)

// Requests lists what a plain protoactor request may ask.
var Requests = table.Served

type waitTip = ask.Call[messages.WaitTip, messages.Tip]

// Chain is the actor; make one with [New].
type Chain struct {
	cfg    Config
	ctx    context.Context //nolint:containedctx // ends the workers when the actor stops
	cancel context.CancelFunc

	engine  engine.Engine // nil until opened
	fresh   engine.Engine // what the worker that opens has made, not yet taken over
	queue   []job
	blocks  []job     // what peers send, after the queue
	tasks   ask.Tasks // the job that runs, or the opening of the engine
	lookups lookups
	aux     candidates // for merged mining; the worker's
	batch   *batch     // blocks of peers that were begun with; the worker's
	beside  ask.Tasks  // files of unspent outputs that are read
	toRead  []reading  // to be begun
	tip     messages.Tip
	behind  bool // there may be work before the snapshot that the chain began with

	progress corelog.Progress // of the chain towards the best header
	warned   *string          // what is said of a long chain that is not valid; nil: nothing was said yet

	importer *importer
	status   messages.ImportStatus
	synced   time.Time // when blocks of peers were made sure of; the worker's
	waiting  []*ask.Call[messages.WaitImported, messages.Done]
	opening  []*ask.Call[messages.WaitOpen, messages.Tip] // to be answered when the engine is there
	tips     []*waitTip                                   // to be answered when the tip is as they ask
	timer    ask.Timer                                    // of idle
	pruning  *pruning.State                               // of the engine before, to be resumed by this one
}

// A job is a piece of work on the engine. It runs in the worker; what it
// returns runs in the actor afterwards. An error means that the engine is
// broken.
type job func(engine.Engine) (after func(), err error)

// New returns the producer of the chain's actor.
func New(cfg Config) actor.Producer {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	pruned := new(pruning.State) // handed on from instance to instance
	return func() actor.Actor {
		c := &Chain{cfg: cfg, pruning: pruned, aux: candidates{AuxBlocks: cfg.Aux}}
		c.ctx, c.cancel = context.WithCancel(context.Background())
		c.importer = newImporter(cfg.Log)
		for _, path := range cfg.Files {
			c.importer.add(&fileSource{path: path, network: cfg.Network})
		}
		c.status = c.importer.status()
		return c
	}
}

// Receive implements actor.Actor.
func (s *Chain) Receive(c actor.Context) {
	switch c.Message().(type) {
	case *actor.Started:
		s.openEngine(c)
	case *actor.Stopping, *actor.Restarting:
		s.close()
	case idle:
		s.idle(c)
	default:
		table.Serve(s, c)
	}
}

// openEngine opens the engine in a worker. The worker leaves the engine in
// fresh, where close finds it if the actor stops before opened runs.
func (s *Chain) openEngine(c actor.Context) {
	s.tasks.Go(c, func() func() {
		e, err := s.cfg.Open(s.ctx)
		if err == nil {
			s.fresh, err = e, e.ResumePruning(*s.pruning)
		}
		return func() { s.opened(c, err) }
	})
}

// opened begins the actor's life with its engine.
func (s *Chain) opened(c actor.Context, err error) {
	if err != nil {
		s.fail(c, err)
		return
	}
	s.engine, s.fresh, s.behind = s.fresh, nil, true
	if stored := s.engine.Stored(); stored != nil {
		s.importer.addFirst(&storedSource{Stored: *stored})
	}
	s.status = s.importer.status()
	s.cfg.Current.SetImporting(s.status.Running)
	s.printf("initload thread start")
	if !s.status.Running {
		s.imported(nil)
	}
	s.cfg.Current.Set(s.engine.Reader())
	s.cfg.Current.SetUnspent(s.lookups.unspent)
	s.announce()
	for _, call := range s.opening {
		call.Answer(s.tip, nil)
	}
	s.opening = nil
	s.idleLater(c)
	s.next(c)
}

func (s *Chain) waitOpen(_ actor.Context, m *ask.Call[messages.WaitOpen, messages.Tip]) {
	if s.engine == nil {
		s.opening = append(s.opening, m)
		return
	}
	m.Answer(s.tip, nil)
}

func (s *Chain) waitTip(_ actor.Context, m *waitTip) {
	s.tips = append(s.tips, m)
	s.answerTips()
}

// getTip answers with the readers' tip, which is ahead of the announced tip
// while a worker runs.
func (s *Chain) getTip(messages.GetTip) (messages.Tip, error) {
	if s.engine == nil {
		return messages.Tip{}, chainview.ErrNotReady
	}
	return currentTip(s.engine), nil
}

func currentTip(e engine.Engine) messages.Tip {
	tip := e.Reader().Active().Tip()
	return messages.Tip{Hash: tip.Hash, Height: tip.Height}
}

// finish follows a job: after is what it left to be done here, err that the engine is
// broken.
func (s *Chain) finish(c actor.Context, after func(), err error) {
	s.announce()
	if after != nil {
		after()
	}
	if err != nil {
		s.fail(c, err)
		return
	}
	s.next(c)
}

// next starts the next job, if the worker is free: a request first, then what a
// peer sends, then a piece of an import.
func (s *Chain) next(c actor.Context) {
	s.readSnapshots(c)
	if s.tasks.Len() > 0 || s.engine == nil {
		return
	}
	var j job
	switch {
	case len(s.queue) > 0:
		j, s.queue, s.behind = s.queue[0], s.queue[1:], true
	case len(s.blocks) > 0:
		j, s.blocks, s.behind = s.blocks[0], s.blocks[1:], true
	case s.status.Running:
		j, s.behind = s.importStep, true
	case s.behind && s.engine.Behind():
		j = s.background
	default:
		return
	}
	engine := s.engine
	s.tasks.Go(c, func() func() {
		after, err := s.lookups.during(engine, func() (func(), error) { return j(engine) })
		return func() { s.finish(c, after, err) }
	})
}

// announce publishes the tip if it has changed.
func (s *Chain) announce() {
	s.logMoves()
	s.warnOfInvalid()
	tip := currentTip(s.engine)
	if tip == s.tip {
		return
	}
	s.tip = tip
	s.cfg.Tip.Publish(messages.TipChanged(tip))
	s.answerTips()
}

// answerTips answers the calls that wait for a tip like the present one, and
// forgets calls whose callers have gone.
func (s *Chain) answerTips() {
	s.tips = slices.DeleteFunc(s.tips, func(call *waitTip) bool {
		if call.Ctx.Err() != nil {
			return true
		}
		if s.engine == nil || !call.Req.Met(s.tip) {
			return false
		}
		call.Answer(s.tip, nil)
		return true
	})
}

// printf writes a line of Core's.
func (s *Chain) printf(format string, args ...any) {
	corelog.Printf(s.cfg.Log, slog.LevelInfo, format, args...)
}

// fail stops the actor for good: a chain that cannot be written is of no use.
func (s *Chain) fail(c actor.Context, err error) {
	why := fmt.Errorf("chain: %w", err)
	if fatal, ok := errors.AsType[*messages.FatalError](err); ok {
		corelog.Printf(s.cfg.Log, slog.LevelError, "*** %s: %v", fatal.Summary, fatal.Err)
		why = fatal
	} else {
		s.cfg.Log.Error("chain failed", "err", err)
	}
	if reason, ok := errors.AsType[messages.StartError](why); ok {
		why = reason // for the operator, in Core's words alone
	}
	s.cfg.OnFailed(why)
	c.Stop(c.Self())
}

// close ends the worker and closes the engine, so that the next instance may
// open it again.
func (s *Chain) close() {
	s.cancel()
	s.timer.Stop()
	s.tasks.Drop()
	s.beside.Drop()
	s.importer.close()
	if s.batch != nil {
		s.batch.end()
	}
	if s.fresh != nil {
		s.engine, s.fresh = s.fresh, nil
	}
	if s.engine == nil {
		return
	}
	s.lookups.end()
	*s.pruning = s.engine.PruneState()
	if err := s.engine.Close(); err != nil {
		s.cfg.Log.Error("chain not closed cleanly", "err", err)
	}
	s.engine = nil
}

// rejected tells an error about the request from one of the engine.
func rejected(err error) bool {
	_, ok := errors.AsType[messages.Refusal](err)
	return ok
}
