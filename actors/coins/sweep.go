package coins

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// parts is into how many parts the set is cut, by the first byte of ids.
const parts = 256

// A sweepPlan is what a sweep does. But for ended, its functions run in workers.
type sweepPlan struct {
	readers int // workers that read at the same time

	// prepare is called once, with the set and before all else.
	prepare func(messages.CoinSet) error

	// reader is called once in each worker: visit sees the outputs of the parts
	// that the worker takes, which ascend, and done follows the last.
	reader func() (visit func(*messages.SetCoin) error, done func())

	// ended is called in the actor when nothing runs any more.
	ended func(error)
}

// A sweep is one pass of workers over the set of unspent outputs.
type sweep struct {
	sweepPlan

	ctx     context.Context //nolint:containedctx // ends the workers
	cancel  context.CancelFunc
	unwatch func() bool      // of the caller's context
	set     messages.CoinSet // nil until the chain has given it
	next    atomic.Int32     // part to be taken next
	done    atomic.Int32     // parts read

	// Used by the actor alone.
	running int
	workers []*ask.Worker
	ready   bool // prepare has run
	err     error
}

// Messages of the actor to itself.
type (
	// snapshot brings the set that a sweep is to read.
	snapshot struct {
		sweep *sweep
		set   messages.CoinSet
		err   error
	}
	// workerDone says that a worker has no more to do, or cannot go on.
	workerDone struct {
		sweep *sweep
		err   error
	}
)

// start begins a sweep by asking the chain for the set.
func (s *Coins) start(c actor.Context, plan sweepPlan) *sweep {
	sw := &sweep{sweepPlan: plan, unwatch: func() bool { return true }}
	sw.ctx, sw.cancel = context.WithCancel(context.Background())
	s.sweeps = append(s.sweeps, sw)
	ask.Then(sw.ctx, c, s.cfg.Chain, messages.SnapshotCoins{},
		func(set messages.CoinSet, err error) any { return snapshot{sw, set, err} })
	return sw
}

// endWith ends the sweep together with ctx.
func (sw *sweep) endWith(ctx context.Context) { sw.unwatch = context.AfterFunc(ctx, sw.cancel) }

// begin prepares a sweep whose set is there.
func (s *Coins) begin(c actor.Context, m snapshot) {
	sw := m.sweep
	switch {
	case !slices.Contains(s.sweeps, sw): // of an instance that failed
		if m.set != nil {
			m.set.Release()
		}
		return
	case m.err != nil:
		s.over(sw, m.err)
		return
	case m.set == nil:
		s.over(sw, errNoSet)
		return
	}
	sw.set = m.set
	sw.spawn(c, func() error { return sw.prepare(sw.set) })
}

// workerDone goes on to reading after the preparation, and ends a sweep with its
// last worker.
func (s *Coins) workerDone(c actor.Context, m workerDone) {
	sw := m.sweep
	sw.running--
	if m.err != nil && sw.err == nil {
		sw.err = m.err
		sw.cancel()
	}
	switch {
	case sw.running > 0:
	case sw.err == nil && !sw.ready:
		sw.ready = true
		for range sw.readers {
			sw.spawn(c, sw.read)
		}
	default:
		s.over(sw, sw.err)
	}
}

// read is one worker: it takes parts until none is left.
func (sw *sweep) read() error {
	visit, done := sw.reader()
	defer done()
	for {
		part := sw.next.Add(1) - 1
		if part >= parts {
			return nil
		}
		if err := sw.set.Visit(sw.ctx, byte(part), byte(part), visit); err != nil {
			return err
		}
		sw.done.Add(1)
	}
}

func (sw *sweep) spawn(c actor.Context, work func() error) {
	sw.running++
	sw.workers = append(sw.workers, ask.Go(c, func() any { return workerDone{sw, work()} }))
}

// over ends a sweep of which nothing runs any more.
func (s *Coins) over(sw *sweep, err error) {
	s.sweeps = slices.DeleteFunc(s.sweeps, func(other *sweep) bool { return other == sw })
	sw.close()
	sw.ended(err)
}

// close gives up what the sweep holds. Nothing of it runs any more.
func (sw *sweep) close() {
	sw.cancel()
	sw.unwatch()
	if sw.set != nil {
		sw.set.Release()
	}
}

// drop waits for the workers of a cancelled sweep, whose reports are lost.
func (sw *sweep) drop() {
	for _, w := range sw.workers {
		w.Drop()
	}
	sw.close()
}
