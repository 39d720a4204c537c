package match

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/messages"
)

// SchedulerConfig is what a [Scheduler] is made of.
type SchedulerConfig struct {
	Source  Source
	Method  filters.Method // by which filters are matched
	Way     Way            // by which hits are found where blocks may be looked into
	Workers int            // that match at a time, of all passes together; at least 1

	// Start starts a goroutine on a core that has nothing to do; nil stands for the
	// go statement.
	Start cores.Start

	// Repair has the damaged filter of a block made again, and returns when views
	// made from then on read the new one. Nil: no filter can be made again.
	Repair func(ctx context.Context, block *chainhash.Hash) error

	// Helper, where there is one, has heights of passes matched elsewhere.
	Helper Helper

	Log *slog.Logger // nil: slog's default
}

// A Helper has heights of passes matched elsewhere, beside the scheduler's workers.
type Helper interface {
	// Help leases heights of a pass and finishes the leases, until all are matched or
	// ctx ends. It may lease none. Before it returns, it gives back what it has leased and
	// not finished, and workers may take everything. An error fails the pass.
	Help(ctx context.Context, pass *Pass) error
}

// A Scheduler runs passes, and shares the cores among the passes that run at the
// same time. Each pass gets a turn of a few milliseconds, at the latest when each of
// the others has had a turn. It also has damaged filters repaired while their pass
// goes on. It is safe for concurrent use.
type Scheduler struct {
	cfg   SchedulerConfig
	turns turns
	*counts
}

// counts are what schedulers of the same cores have done.
type counts struct {
	running                  atomic.Int64
	passes, matched, damaged atomic.Uint64
}

// Stats returns what the scheduler has done until now.
func (s *Scheduler) Stats() messages.MatchStats {
	return messages.MatchStats{
		Running: int(s.running.Load()), Passes: s.passes.Load(), Filters: s.matched.Load(), Damaged: s.damaged.Load(),
	}
}

// NewScheduler returns a scheduler without a pass.
func NewScheduler(cfg SchedulerConfig) *Scheduler {
	cfg.Workers = max(cfg.Workers, 1)
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	return &Scheduler{cfg: cfg, turns: turns{free: cfg.Workers}, counts: new(counts)}
}

// Apart returns a scheduler for the same filters with at most so many workers of its own. Its passes
// and filters count in the Stats of this scheduler.
func (s *Scheduler) Apart(workers int) *Scheduler {
	cfg := s.cfg
	cfg.Workers = min(workers, cfg.Workers)
	apart := NewScheduler(cfg)
	apart.counts = s.counts
	return apart
}

// View pins the filters that are stored now.
func (s *Scheduler) View() View { return s.cfg.Source.View() }

// NewPass returns a pass over the scheduler's filters, by its method and its way, of which nothing is done.
func (s *Scheduler) NewPass(cfg Config) *Pass {
	cfg.Source, cfg.Method, cfg.Way = s.cfg.Source, s.cfg.Method, s.cfg.Way
	p := New(cfg)
	p.counted = &s.matched
	return p
}

// LostError is a damaged filter that could not be made again.
type LostError struct {
	Block chainhash.Hash
	Err   error // of the repair, or a [*DamagedError] that came after it
}

// Error implements error.
func (e *LostError) Error() string {
	return fmt.Sprintf("filter of block %v cannot be made again: %v", e.Block, e.Err)
}

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// errComplete is why the last workers of a pass end.
var errComplete = errors.New("everything was matched")

// Run runs a pass, once, and returns when everything is matched, when something
// failed, or when ctx has ended; its workers have ended then. The error is the first
// of a worker, a [*LostError] for a filter that is damaged and stays so, or the cause
// of ctx's end. A worker's panic, a fault of mapped memory included, becomes the
// caller's: its value is a [*cores.Panic].
//
// The caller's goroutine is one of the workers.
func (s *Scheduler) Run(ctx context.Context, pass *Pass) error {
	s.passes.Add(1)
	s.running.Add(1)
	defer s.running.Add(-1)
	inner, end := context.WithCancelCause(ctx)
	defer end(nil)
	r := &run{scheduler: s, pass: pass, end: end, helped: s.cfg.Helper != nil && !pass.Alone}
	var group sync.WaitGroup
	for range pass.Workers(s.cfg.Workers) - 1 {
		group.Add(1)
		s.cfg.Start.Go(func() {
			defer group.Done()
			r.work(inner)
		})
	}
	if r.helped {
		group.Add(1)
		cores.Start(nil).Go(func() { // a core does not matter: it waits for others
			defer group.Done()
			defer pass.Reserve(false)
			if err := cores.Catch(func() error { return s.cfg.Helper.Help(inner, pass) }); err != nil {
				end(err)
			}
		})
	}
	r.work(inner)
	group.Wait()
	if pass.Complete() {
		return nil
	}
	err := context.Cause(inner)
	if p, ok := errors.AsType[*cores.Panic](err); ok {
		panic(p)
	}
	return err
}

// run is one call of [Scheduler.Run].
type run struct {
	scheduler *Scheduler
	pass      *Pass
	end       context.CancelCauseFunc // of all workers; the first cause counts
	share     share
	helped    bool // heights may be leased, and come back

	mu       sync.Mutex
	repaired map[chainhash.Hash]bool
}

// work is what each goroutine of a run does.
func (r *run) work(ctx context.Context) {
	err := cores.Catch(func() error { return r.match(ctx) })
	switch {
	case err != nil:
		r.end(err)
	case r.pass.Complete():
		r.end(errComplete) // nobody has to wait for a turn any more
	}
}

// match matches unit after unit, and goes on after a repair with the unit that was
// damaged.
func (r *run) match(ctx context.Context) error {
	t := newTurn(&r.scheduler.turns, &r.share)
	t.take(ctx)
	defer t.give()
	var unit Heights
	for {
		left, err := r.pass.Work(withTurn(ctx, t), unit)
		damage, ok := errors.AsType[*DamagedError](err)
		if err == nil && r.helped && r.awaitMore(ctx, t) {
			unit = Heights{}
			continue
		}
		if !ok {
			return err
		}
		t.without(ctx, func() { err = r.repair(ctx, damage) })
		if err != nil {
			return err
		}
		unit = left
	}
}

// awaitMore waits, without a turn, until there is more to take while heights are leased, and
// reports whether there is.
func (r *run) awaitMore(ctx context.Context, t *turn) (more bool) {
	t.without(ctx, func() { more = r.pass.await(ctx) })
	return more
}

// repair has a damaged filter made again, once for each block.
func (r *run) repair(ctx context.Context, damage *DamagedError) error {
	r.scheduler.damaged.Add(1)
	cfg := &r.scheduler.cfg
	if cfg.Repair == nil || !r.mayRepair(&damage.Block) {
		return &LostError{Block: damage.Block, Err: damage}
	}
	cfg.Log.Warn("a block filter is damaged and is made again", "err", damage)
	if err := cfg.Repair(ctx, &damage.Block); err != nil {
		return &LostError{Block: damage.Block, Err: err}
	}
	return nil
}

// mayRepair reports whether the filter of a block was not made again before.
func (r *run) mayRepair(block *chainhash.Hash) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.repaired[*block] {
		return false
	}
	if r.repaired == nil {
		r.repaired = make(map[chainhash.Hash]bool)
	}
	r.repaired[*block] = true
	return true
}
