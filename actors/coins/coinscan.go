package coins

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// shards is into how many parts the set is cut, by the first byte of ids.
const shards = 256

// A coinScanJob is what a pass over the set does. But for ended, its functions run in workers.
type coinScanJob struct {
	readers int             // workers that read at the same time
	at      *chainhash.Hash // block whose set is read; nil: the tip

	// prepare is called once, with the set and before all else.
	prepare func(messages.CoinSet) error

	// reader is called once in each worker: visit sees the outputs of the shards
	// that the worker takes, which ascend, and done follows the last.
	reader func() (visit func(*messages.SetCoin) error, done func())

	// complete, if any, is called by the one worker that reads when it has read all, or
	// could not; its error is the pass's.
	complete func(error) error

	// abandon, if any, is called when the actor stops before complete was called.
	abandon func()

	// ended is called in the actor when nothing runs any more.
	ended func(error)
}

// A coinScan is one pass of workers over the set of unspent outputs.
type coinScan struct {
	coinScanJob

	ctx     context.Context //nolint:containedctx // ends the workers
	cancel  context.CancelFunc
	unwatch func() bool      // of the caller's context
	set     messages.CoinSet // nil until the chain has given it
	next    atomic.Int32     // shard to be taken next
	done    atomic.Int32     // shards read

	// Used by the actor alone.
	asked   int // how often the chain was asked for the set
	workers ask.Tasks
	ready   bool // prepare has run
	err     error
}

// A snapshot brings the set that a pass is to read.
type snapshot struct {
	pass *coinScan
	set  messages.CoinSet
	err  error
}

// start begins a pass by asking the chain for the set.
func (s *Coins) start(c actor.Context, job coinScanJob) *coinScan {
	p := &coinScan{coinScanJob: job, unwatch: func() bool { return true }}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	s.scans = append(s.scans, p)
	s.askSet(c, p)
	return p
}

// maxAsked is how often a chain that fails is asked for one set: it may fail over the request itself.
const maxAsked = 3

func (s *Coins) askSet(c actor.Context, p *coinScan) {
	p.asked++
	ask.Then(p.ctx, c, s.cfg.Chain, messages.SnapshotCoins{At: p.at},
		func(set messages.CoinSet, err error) any { return snapshot{p, set, err} })
}

// endWith ends the pass together with ctx.
func (p *coinScan) endWith(ctx context.Context) { p.unwatch = context.AfterFunc(ctx, p.cancel) }

// begin prepares a pass whose set is there.
func (s *Coins) begin(c actor.Context, m snapshot) {
	p := m.pass
	switch {
	case errors.Is(m.err, ask.ErrRestarted) && p.asked < maxAsked: // nothing was read yet
		s.askSet(c, p)
		return
	case m.err != nil:
		s.over(p, m.err)
		return
	case m.set == nil:
		s.over(p, errNoSet)
		return
	}
	p.set = m.set
	s.spawn(c, p, func() error { return p.prepare(p.set) })
}

// workerDone goes on to reading after the preparation, and ends a pass with its
// last worker.
func (s *Coins) workerDone(c actor.Context, p *coinScan, err error) {
	if err != nil && p.err == nil {
		p.err = err
		p.cancel()
	}
	switch {
	case p.workers.Len() > 0:
	case p.err == nil && !p.ready:
		p.ready = true
		for range p.readers {
			s.spawn(c, p, p.read)
		}
	default:
		s.over(p, p.err)
	}
}

// read is one worker: it takes shards until none is left.
func (p *coinScan) read() error {
	visit, done := p.reader()
	defer done()
	err := p.readShards(visit)
	if p.complete != nil {
		err = p.complete(err)
	}
	return err
}

func (p *coinScan) readShards(visit func(*messages.SetCoin) error) error {
	for {
		shard := p.next.Add(1) - 1
		if shard >= shards {
			return nil
		}
		if err := p.set.Visit(p.ctx, uint16(shard)<<8, uint16(shard)<<8|0xff, visit); err != nil {
			return err
		}
		p.done.Add(1)
	}
}

func (s *Coins) spawn(c actor.Context, p *coinScan, work func() error) {
	p.workers.Go(c, func() func() {
		err := work()
		return func() { s.workerDone(c, p, err) }
	})
}

// over ends a pass of which nothing runs any more.
func (s *Coins) over(p *coinScan, err error) {
	s.scans = slices.DeleteFunc(s.scans, func(other *coinScan) bool { return other == p })
	p.close()
	p.ended(err)
}

// close gives up what the pass holds. Nothing of it runs any more.
func (p *coinScan) close() {
	p.cancel()
	p.unwatch()
	if p.set != nil {
		p.set.Release()
	}
}

// drop waits for the workers of a cancelled pass, whose reports are lost.
func (p *coinScan) drop() {
	p.workers.Drop()
	if p.abandon != nil {
		p.abandon()
	}
	p.close()
}
