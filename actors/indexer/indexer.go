// Package indexer is the actor that owns the block filter index: it alone
// writes it.
//
// It follows the active chain, serves [messages.GetIndexStatus],
// [messages.WaitIndexed], [messages.WaitIndexIdle], [messages.RepairFilter]
// and [messages.VerifyIndex], and checks the whole index once after every
// start. Filters are built on all cores, in batches; a reorganisation or a
// request is noticed between two of them. Filters of blocks that leave the
// active chain stay in the store. When the tip is reached the filters that have
// no probe lines get theirs, in the background.
//
// Readers do not ask this actor: they read the store.
package indexer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/segment"
)

const (
	// logEvery is how often the log is told how far the index has come.
	logEvery = 10 * time.Second

	// syncEvery is how often a running build makes sure of what it has. What
	// comes after is built again if the power fails.
	syncEvery = 5 * time.Second
)

// Config is what the actor is made of.
type Config struct {
	Store     *segment.Store
	Chain     *chainview.Current
	Tip       *ask.Topic[messages.TipChanged]
	HeaderLen func(raw []byte) int // bytes before a block's transactions
	Workers   int                  // that build filters
	Log       *slog.Logger

	// Keeper owns the blocks. It is told which of them the index has yet to read,
	// under LockName, so that it does not prune them; nil where none are pruned.
	Keeper   *ask.Ref
	LockName string

	OnFailed func(error) // told why the actor stops for good
}

// Requests lists what a plain protoactor request may ask.
var Requests = []ask.Served{
	ask.Serve[messages.GetIndexStatus](), ask.Serve[messages.WaitIndexed](),
	ask.Serve[messages.WaitIndexIdle](), ask.Serve[messages.RepairFilter](),
	ask.Serve[messages.VerifyIndex](),
}

type (
	getStatus = ask.Call[messages.GetIndexStatus, messages.IndexStatus]
	wait      = ask.Call[messages.WaitIndexed, messages.Done]
	waitIdle  = ask.Call[messages.WaitIndexIdle, messages.Done]
	repair    = ask.Call[messages.RepairFilter, messages.Done]
	verify    = ask.Call[messages.VerifyIndex, messages.VerifyResult]
)

// Indexer is the actor; make one with [New].
type Indexer struct {
	cfg    Config
	ctx    context.Context //nolint:containedctx // ends the workers when the actor stops
	cancel context.CancelFunc

	builder *ask.Worker // nil when there is nothing to build
	news    bool        // the tip changed since the builder began
	synced  bool        // the active tip was reached once
	waiting []*wait
	idle    []*waitIdle
	logged  time.Time
	stored  time.Time // of the last sync

	healer *healer
	layer  *layer
}

// New returns the producer of the indexer.
func New(cfg Config) actor.Producer {
	return func() actor.Actor {
		i := &Indexer{cfg: cfg, logged: time.Now(), stored: time.Now()}
		i.ctx, i.cancel = context.WithCancel(context.Background())
		i.healer = &healer{cfg: &i.cfg, ctx: i.ctx}
		i.layer = newLayer(i.ctx, &i.cfg, i.healer)
		return i
	}
}

// Receive implements actor.Actor.
func (i *Indexer) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		i.cfg.Tip.Subscribe(c)
		i.layer.start(c)
		i.build(c)
	case *actor.Stopping, *actor.Restarting:
		i.close(c)
	case messages.TipChanged:
		i.news = true
		i.build(c)
	case built:
		i.took(c, m)
	case *getStatus:
		m.Answer(i.status(), nil)
	case *wait:
		i.waiting = append(i.waiting, m)
		i.answerWaiting(c)
	case *waitIdle:
		i.waitIdle(c, m)
	case *repair:
		i.healer.repair(c, m)
	case *verify:
		i.healer.verify(c, m)
	case healed:
		i.healer.healed(c, m)
	case verified:
		i.healer.verified(c, m)
	case laid:
	default:
		ask.Unhandled(c)
	}
}

func (i *Indexer) status() messages.IndexStatus {
	height, hash, ok := i.cfg.Store.Tip()
	if !ok {
		return messages.IndexStatus{Synced: i.synced, Height: -1}
	}
	return messages.IndexStatus{Synced: i.synced, Height: height, Hash: hash, Unlaid: i.cfg.Store.Unlaid()}
}

// build starts the next batch, if there is anything to build: for the active
// chain, else for a block of another branch that somebody waits for.
func (i *Indexer) build(c actor.Context) {
	reader := i.cfg.Chain.Open()
	if i.builder != nil || reader == nil {
		return
	}
	tip := reader.Active().Tip()
	target := tip
	if i.indexed(&tip.Hash) && i.atTip(tip) {
		i.reachedTip(c)
		if target = i.wantedBranch(reader); target == nil {
			return
		}
	}
	i.news = false
	batch := &batch{cfg: &i.cfg, reader: reader, target: target, sync: time.Since(i.stored) > syncEvery}
	i.builder = ask.Go(c, func() any {
		done := batch.run(i.ctx)
		if target != tip {
			done.stale = target
		}
		return done
	})
}

// atTip reports whether the store's active chain ends in tip.
func (i *Indexer) atTip(tip *chainview.Block) bool {
	_, hash, ok := i.cfg.Store.Tip()
	return ok && hash == tip.Hash
}

func (i *Indexer) indexed(hash *chainhash.Hash) bool { return i.cfg.Store.Has(hash) }

// took takes over what a batch has done.
func (i *Indexer) took(c actor.Context, m built) {
	i.builder = nil
	switch {
	case m.err == nil:
	case errors.Is(m.err, chainview.ErrClosed):
		// The chain's actor opens it again, and announces its tip then.
		if i.news {
			i.build(c)
		}
		return
	case m.stale != nil:
		i.refuse(m.stale, m.err)
	default:
		i.failed(c, m.err)
		return
	}
	if m.synced {
		i.stored = time.Now()
		i.lock(c, m.height) // what is not sure yet may have to be built again
	}
	if time.Since(i.logged) > logEvery {
		i.logged = time.Now()
		i.cfg.Log.Info("Syncing basic block filter index with block chain", "height", m.height)
	}
	i.answerWaiting(c)
	i.build(c)
}

// lock tells the keeper of the blocks how far the index is.
func (i *Indexer) lock(c actor.Context, height int32) {
	if i.cfg.Keeper.IsAbsent() || height < 0 {
		return
	}
	ask.Then(i.ctx, c, i.cfg.Keeper, nodemsg.SetPruneLock{Name: i.cfg.LockName, Height: height},
		func(messages.Done, error) any { return nil })
}

// failed ends what cannot go on. A block that cannot be read, or an index that
// cannot be written, is a failure of the node's disk.
func (i *Indexer) failed(c actor.Context, err error) {
	if i.ctx.Err() != nil {
		return // stopping
	}
	i.cfg.Log.Error("block filter index failed", "err", err)
	for _, call := range i.waiting {
		call.Answer(messages.Done{}, err)
	}
	i.cfg.OnFailed(fmt.Errorf("block filter index: %w", err))
	c.Stop(c.Self())
}

// refuse answers those who wait for a block of a branch that was never
// connected, so that it lacks what a filter is made of.
func (i *Indexer) refuse(target *chainview.Block, err error) {
	for _, call := range i.waiting {
		if call.Req.Block == target.Hash {
			call.Answer(messages.Done{}, err)
		}
	}
	i.waiting = slices.DeleteFunc(i.waiting, func(call *wait) bool { return call.Req.Block == target.Hash })
}

// reachedTip notes that the index is in step with the chain.
func (i *Indexer) reachedTip(c actor.Context) {
	if !i.synced {
		i.synced = true
		height, _, _ := i.cfg.Store.Tip()
		i.cfg.Log.Info("basic block filter index is enabled at height", "height", height)
		i.healer.verify(c, nil)
	}
	i.layer.wake()
	for _, call := range i.idle {
		call.Answer(messages.Done{}, nil)
	}
	i.idle = nil
}

func (i *Indexer) waitIdle(c actor.Context, m *waitIdle) {
	if !i.synced {
		m.Answer(messages.Done{}, nil)
		return
	}
	i.idle = append(i.idle, m)
	i.build(c)
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
		default:
			still = append(still, call)
		}
	}
	clear(i.waiting[len(still):])
	i.waiting = still
	if len(still) > 0 {
		i.build(c)
	}
}

// wantedBranch returns a block that somebody waits for although it left the
// active chain before its filter was built, nil when there is none.
func (i *Indexer) wantedBranch(reader chainview.Reader) *chainview.Block {
	for _, call := range i.waiting {
		if call.Ctx.Err() == nil && !i.indexed(&call.Req.Block) {
			return reader.Lookup(&call.Req.Block)
		}
	}
	return nil
}

// close ends the workers. The store stays open: it is the node's.
func (i *Indexer) close(c actor.Context) {
	i.cfg.Tip.Unsubscribe(c)
	i.cancel()
	i.builder.Drop()
	i.healer.close()
	i.layer.worker.Drop()
	if err := i.cfg.Store.Sync(); err != nil && !errors.Is(err, segment.ErrClosed) {
		i.cfg.Log.Error("block filter index not synced", "err", err)
	}
}
