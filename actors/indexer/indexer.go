// Package indexer is the actor that owns the block filter index: it alone
// writes it.
//
// It follows the active chain, serves the requests in table, and checks the whole index
// once after every start. Filters are built on all cores, in batches; reorganisations and
// requests are noticed between two batches. Filters of blocks that leave the active chain
// stay in the store. When the tip is reached the filters that have no probe lines get
// theirs, in the background.
//
// Readers do not ask this actor: they read the store.
package indexer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/follow"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/segment"
)

// Config is what the actor is made of.
type Config struct {
	Store     *segment.Store
	Chain     *chainview.Current
	Tip       *ask.Feed[messages.TipChanged]
	HeaderLen func(raw []byte) int // bytes before a block's transactions
	Workers   int                  // that build filters
	Audit     bool                 // build filters that the chain has given, too, and compare
	Log       *slog.Logger

	// PruneLocks owns the blocks. It is notified which of them the index has yet to read,
	// under LockName, so that it does not prune them; absent or nil where none are pruned.
	PruneLocks *ask.Ref
	LockName   string

	OnFailed func(error) // is called with the reason why the actor stops for good
}

var table = ask.TableOf(
	ask.AtOnce((*Indexer).status), ask.On((*Indexer).wait), ask.On((*Indexer).waitIdle),
	ask.On(func(i *Indexer, c actor.Context, m *repair) { i.repairer.repair(c, m) }),
	ask.On(func(i *Indexer, c actor.Context, m *verify) { i.repairer.verify(c, m) }),
)

// Requests lists what a plain protoactor request may ask.
var Requests = table.Served

type (
	wait   = ask.Call[messages.WaitIndexed, messages.Done]
	repair = ask.Call[messages.RepairFilter, messages.Done]
	verify = ask.Call[messages.VerifyIndex, messages.VerifyResult]
)

// Indexer is the actor; make one with [New].
type Indexer struct {
	cfg    Config
	ctx    context.Context //nolint:containedctx // ends the workers when the actor stops
	cancel context.CancelFunc

	follower *follow.Follower
	waiting  []*wait
	progress corelog.Progress
	stale    staleBuild

	repairer *repairer
	probes   *probeBuilder
	wrong    wrongFilter
}

// New returns the producer of the indexer.
func New(cfg Config) actor.Producer {
	return func() actor.Actor {
		i := &Indexer{cfg: cfg}
		i.ctx, i.cancel = context.WithCancel(context.Background())
		i.follower = follow.New(follow.Config{
			Name: cfg.LockName, Target: &target{&i.cfg}, Chain: cfg.Chain, Tip: cfg.Tip, PruneLocks: cfg.PruneLocks,
			Batch: batchBlocks, SyncAtTip: true,
			Paused: func() bool { return i.stale.worker.Len() > 0 || i.wrong.worker.Len() > 0 },
			Moved:  i.moved, Reached: i.reachedTip, Synced: i.synced, Failed: i.failed,
			LeftOut: func(b *chainview.Block, err error) {
				cfg.Log.Warn("block filter index leaves a stale branch out", "block", b.Hash, "err", err)
			},
		})
		i.repairer = &repairer{cfg: &i.cfg, ctx: i.ctx}
		i.probes = newProbeBuilder(i.ctx, &i.cfg, i.repairer)
		return i
	}
}

// Receive implements actor.Actor.
func (i *Indexer) Receive(c actor.Context) {
	if i.follower.Receive(c) {
		return
	}
	switch c.Message().(type) {
	case *actor.Started:
		i.startProbes(c)
	case *actor.Stopping, *actor.Restarting:
		i.close()
	case messages.TipChanged:
		i.stale.tips = true
		i.answerWaiting(c)
	default:
		table.Serve(i, c)
	}
}

func (i *Indexer) status(messages.GetIndexStatus) (messages.IndexStatus, error) {
	synced := i.follower.Status().Synced
	height, hash, ok := i.cfg.Store.Tip()
	if !ok {
		return messages.IndexStatus{Synced: synced, Height: -1}, nil
	}
	return messages.IndexStatus{
		Synced: synced, Height: height, Hash: hash, WithoutProbes: i.cfg.Store.WithoutProbes(),
	}, nil
}

func (i *Indexer) indexed(hash *chainhash.Hash) bool { return i.cfg.Store.Has(hash) }

// moved is called after each step along the active chain.
func (i *Indexer) moved(c actor.Context) {
	i.logProgress()
	i.answerWaiting(c)
}

// logProgress logs every 30 seconds how far the index is behind the chain, if it is.
func (i *Indexer) logProgress() {
	reader, now := i.cfg.Chain.Open(), time.Now()
	if reader == nil || !i.progress.Due(now) {
		return
	}
	height, _, _ := i.cfg.Store.Tip()
	tip := reader.Active().Height()
	if height >= tip {
		i.progress = corelog.Progress{}
		return
	}
	if words := i.progress.Words(now, int64(height), float64(height)/float64(tip), "blocks"); words != "" {
		corelog.Printf(i.cfg.Log, slog.LevelInfo,
			"Syncing basic block filter index with block chain from height %d of %d, %s", height, tip, words)
	}
}

// synced notes that the index has reached the tip for the first time.
func (i *Indexer) synced(c actor.Context) {
	height, _, _ := i.cfg.Store.Tip()
	i.cfg.Log.Info("basic block filter index is enabled at height", "height", height)
	i.repairer.verify(c, nil)
}

// reachedTip is called whenever the index is in step with the chain.
func (i *Indexer) reachedTip(c actor.Context) {
	if i.dropWrong(c) {
		return
	}
	i.probes.wake()
	i.buildStale(c)
}

// failed says why the actor cannot go on. A block that cannot be read, or an index that
// cannot be written, is a failure of the node's disk.
func (i *Indexer) failed(err error) {
	i.cfg.Log.Error("block filter index failed", "err", err)
	for _, call := range i.waiting {
		call.Answer(messages.Done{}, err)
	}
	i.cfg.OnFailed(fmt.Errorf("block filter index: %w", err))
}

func (i *Indexer) wait(c actor.Context, m *wait) {
	i.waiting = append(i.waiting, m)
	i.answerWaiting(c)
}

func (i *Indexer) waitIdle(c actor.Context, m *ask.Call[messages.WaitIndexIdle, messages.Done]) {
	if !i.follower.Status().Synced {
		m.Answer(messages.Done{}, nil)
		return
	}
	i.follower.When(c, nil, func(err error) { m.Answer(messages.Done{}, err) })
}

// answerWaiting answers those whose block has its filter, and sees to it that
// the others' get theirs.
func (i *Indexer) answerWaiting(c actor.Context) {
	reader := i.cfg.Chain.Open()
	still := i.waiting[:0]
	for _, call := range i.waiting {
		switch {
		case call.Ctx.Err() != nil:
			call.Answer(messages.Done{}, call.Ctx.Err())
		case i.indexed(&call.Req.Block):
			call.Answer(messages.Done{}, nil)
		case reader != nil && reader.Lookup(&call.Req.Block) == nil:
			call.Answer(messages.Done{}, messages.ErrBlockNotFound)
		case reader != nil && lacks(reader, &call.Req.Block):
			call.Answer(messages.Done{}, messages.ErrBlockNotYet)
		default:
			still = append(still, call)
		}
	}
	clear(i.waiting[len(still):])
	i.waiting = still
	if len(still) > 0 {
		i.follower.Wake(c)
	}
}

// lacks reports whether a block cannot be reached, since before it are some that are still to come or
// to be validated: the chain begins with a snapshot.
func lacks(reader chainview.Reader, hash *chainhash.Hash) bool {
	assumed, b := chainview.AssumedOf(reader), reader.Lookup(hash)
	if assumed == nil || b == nil {
		return false
	}
	active := reader.Active()
	return assumed.Lacks(b.Ancestor(min(b.Height, assumed.Base.Height)), active)
}

// close ends the workers. The store stays open: it is the node's.
func (i *Indexer) close() {
	i.cancel()
	i.stale.worker.Drop()
	i.repairer.close()
	i.probes.worker.Drop()
	i.wrong.worker.Drop()
	if err := i.cfg.Store.Sync(); err != nil && !errors.Is(err, segment.ErrClosed) {
		i.cfg.Log.Error("block filter index not synced", "err", err)
	}
}
