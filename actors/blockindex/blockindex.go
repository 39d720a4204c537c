// Package blockindex is the actor that keeps one index of blocks in step with the
// active chain. What the index is of, an [Index] knows.
//
// It serves [messages.GetIndexStatus] and [messages.WaitIndexIdle]. Blocks are
// added in a worker, a batch at a time; between two batches a reorganisation is
// noticed. Readers do not ask this actor: they read the index, and tell the actor of
// damage that they find ([index.Damaged]). A damaged index is built anew.
package blockindex

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
	"github.com/seed61375155/trawl/internal/index"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

const (
	// batchBlocks and batchTime end a batch, whichever comes first.
	batchBlocks = 1000
	batchTime   = time.Second

	// logEvery is how often the log is told how far the index has come.
	logEvery = 30 * time.Second

	// syncEvery is how often a running build makes sure of what it has.
	syncEvery = 5 * time.Second
)

// errPruned reports an index that lacks blocks which are gone.
var errPruned = errors.New("best block of the index goes beyond pruned data. " +
	"Please disable the index or reindex (which will download the whole blockchain again)")

// An Index is kept by this actor: one worker at a time calls its methods.
type Index interface {
	// Best returns the last block in the index; ok is false when it is empty.
	Best() (hash chainhash.Hash, height int32, ok bool)

	// Connect adds the block that follows the best one; the first is the genesis
	// block.
	Connect(reader chainview.Reader, b *chainview.Block) error

	// Disconnect takes the best block back.
	Disconnect(reader chainview.Reader, b *chainview.Block) error

	// Sync makes sure of the index: it survives a loss of power as it is.
	Sync() error

	// Rewind goes back to an earlier state, at a block that is known; where there is
	// none it empties the index.
	Rewind(known func(hash *chainhash.Hash) bool) error

	// Reset empties the index, which is damaged.
	Reset() error
}

// Config is what the actor is made of.
type Config struct {
	Name  string // of the index, in logs
	Index Index
	Chain *chainview.Current
	Tip   *ask.Topic[messages.TipChanged]
	Log   *slog.Logger

	// Keeper owns the blocks. It is told which of them the index has yet to read,
	// so that it does not prune them; nil where none are pruned.
	Keeper *ask.Ref

	OnFailed func(error) // told why the actor stops for good
}

// Requests lists what a plain protoactor request may ask.
var Requests = []ask.Served{ask.Serve[messages.GetIndexStatus](), ask.Serve[messages.WaitIndexIdle]()}

type (
	getStatus = ask.Call[messages.GetIndexStatus, messages.IndexStatus]
	waitIdle  = ask.Call[messages.WaitIndexIdle, messages.Done]
)

// Follower is the actor; make one with [New].
type Follower struct {
	cfg    Config
	ctx    context.Context //nolint:containedctx // ends the worker when the actor stops
	cancel context.CancelFunc

	worker *ask.Worker // nil when there is nothing to do
	news   bool        // the tip changed since the worker began
	status messages.IndexStatus
	idle   []*waitIdle
	logged time.Time
	stored time.Time // of the last sync

	damage  error // to be mended by the next batch
	mending bool  // the index is built anew, and has yet to reach the tip
}

// built tells the actor what a batch has done.
type built struct {
	status messages.IndexStatus // Synced: the tip was reached
	stored bool                 // what was built survives a loss of power
	err    error
}

// New returns the producer of the actor.
func New(cfg Config) actor.Producer {
	return func() actor.Actor {
		f := &Follower{cfg: cfg, logged: time.Now(), stored: time.Now(), status: messages.IndexStatus{Height: -1}}
		f.ctx, f.cancel = context.WithCancel(context.Background())
		return f
	}
}

// Receive implements actor.Actor.
func (f *Follower) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		f.cfg.Tip.Subscribe(c)
		f.build(c)
	case *actor.Stopping, *actor.Restarting:
		f.cfg.Tip.Unsubscribe(c)
		f.cancel()
		f.worker.Drop()
	case messages.TipChanged:
		f.news = true
		f.build(c)
	case index.Damaged:
		f.damaged(c, m.Err)
		f.build(c)
	case built:
		f.took(c, m)
	case *getStatus:
		m.Answer(f.status, nil)
	case *waitIdle:
		f.idle = append(f.idle, m)
		f.build(c)
	default:
		ask.Unhandled(c)
	}
}

// build starts a batch, unless one is running: that one is followed by another
// until the tip is reached. What the chain says meanwhile is not forgotten.
func (f *Follower) build(c actor.Context) {
	reader := f.cfg.Chain.Open()
	if f.worker != nil || reader == nil {
		return
	}
	f.news = false
	b := &batch{cfg: &f.cfg, ctx: f.ctx, reader: reader, reset: f.damage != nil, sync: time.Since(f.stored) > syncEvery}
	f.damage = nil
	f.worker = ask.Go(c, func() any { return b.run() })
}

// batch takes the index some way to the tip.
type batch struct {
	cfg    *Config
	ctx    context.Context //nolint:containedctx // the actor's
	reader chainview.Reader
	reset  bool // the index is damaged
	sync   bool // whether the time for that has come anyway
}

func (b *batch) run() (done built) {
	if b.reset {
		done.err = b.cfg.Index.Reset()
	}
	if done.err == nil {
		done.err = b.steps()
	}
	hash, height, ok := b.cfg.Index.Best()
	done.status = messages.IndexStatus{Height: height, Hash: hash}
	done.status.Synced = ok && b.reader.Active().Tip().Hash == hash
	if !ok {
		done.status.Height = -1
	}
	// Blocks may be deleted only once it is sure that they are no longer needed.
	if done.err == nil && (b.sync || done.status.Synced && !b.cfg.Keeper.IsAbsent()) {
		done.err = b.cfg.Index.Sync()
		done.stored = done.err == nil
	}
	return done
}

func (b *batch) steps() error {
	began := time.Now()
	for range batchBlocks {
		select {
		case <-b.ctx.Done():
			return nil
		default:
		}
		if time.Since(began) > batchTime {
			return nil
		}
		done, err := b.step()
		if done || err != nil {
			return err
		}
	}
	return nil
}

// step adds or takes back one block. done reports that the index is at the tip.
func (b *batch) step() (done bool, err error) {
	active, index := b.reader.Active(), b.cfg.Index
	hash, height, ok := index.Best()
	if !ok {
		return false, index.Connect(b.reader, active.At(0))
	}
	best := b.reader.Lookup(&hash)
	if best == nil {
		// The power failed, and the chain knows less than the index.
		b.cfg.Log.Warn("index is ahead of the chain, going back", "index", b.cfg.Name, "height", height)
		return false, index.Rewind(func(hash *chainhash.Hash) bool { return b.reader.Lookup(hash) != nil })
	}
	if !active.Contains(best) {
		return false, index.Disconnect(b.reader, best)
	}
	next := active.Next(best)
	if next == nil {
		return true, nil
	}
	return false, index.Connect(b.reader, next)
}

// took takes over what a batch has done.
func (f *Follower) took(c actor.Context, m built) {
	f.worker = nil
	switch {
	case errors.Is(m.err, chainview.ErrClosed):
		// The chain's actor opens it again, and announces its tip then.
		if f.news {
			f.build(c)
		}
		return
	case f.damage != nil: // found by a reader meanwhile
		f.build(c)
		return
	case errors.Is(m.err, index.ErrDamaged) && !f.mending:
		f.damaged(c, m.err)
		f.build(c)
		return
	case m.err != nil:
		f.failed(c, m.err)
		return
	}
	reached := m.status.Synced
	if reached && !f.status.Synced {
		corelog.Printf(f.cfg.Log, slog.LevelInfo, "%s is enabled at height %d", f.cfg.Name, m.status.Height)
	}
	m.status.Synced = reached || f.status.Synced // it was once
	f.status = m.status
	if m.stored {
		f.stored = time.Now()
		f.lock(c)
	}
	if reached {
		f.mending = false
		for _, call := range f.idle {
			call.Answer(messages.Done{}, nil)
		}
		f.idle = nil
		if active := f.cfg.Chain.Open(); active == nil || active.Active().Tip().Hash == m.status.Hash {
			return
		}
	} else if time.Since(f.logged) > logEvery {
		f.logged = time.Now()
		corelog.Printf(f.cfg.Log, slog.LevelInfo, "Syncing %s with block chain from height %d", f.cfg.Name, m.status.Height)
	}
	f.build(c)
}

// damaged sees to it that the index is built anew. Until it has reached the tip again
// it is not in step with the chain, and more damage is a failure of the disk.
func (f *Follower) damaged(c actor.Context, err error) {
	if f.mending {
		return // a reader has found what is known, or what is gone
	}
	f.cfg.Log.Warn("index is damaged, building it anew from all blocks", "index", f.cfg.Name, "err", err)
	f.damage, f.mending = err, true
	f.status = messages.IndexStatus{Height: -1}
	for _, call := range f.idle {
		call.Answer(messages.Done{}, index.ErrDamaged)
	}
	f.idle = nil
	if !f.cfg.Keeper.IsAbsent() {
		ask.Then(f.ctx, c, f.cfg.Keeper, nodemsg.SetPruneLock{Name: f.cfg.Name, Height: 0},
			func(messages.Done, error) any { return nil })
	}
}

// lock tells the keeper of the blocks how far the index is.
func (f *Follower) lock(c actor.Context) {
	if f.cfg.Keeper.IsAbsent() || f.status.Height < 0 {
		return
	}
	ask.Then(f.ctx, c, f.cfg.Keeper, nodemsg.SetPruneLock{Name: f.cfg.Name, Height: f.status.Height},
		func(messages.Done, error) any { return nil })
}

// failed ends what cannot go on: a block cannot be read, or the index not written.
func (f *Follower) failed(c actor.Context, err error) {
	if f.ctx.Err() != nil {
		return // stopping
	}
	if errors.Is(err, chainview.ErrPruned) {
		err = fmt.Errorf("%w: %w", errPruned, err)
	}
	f.cfg.Log.Error("index failed", "index", f.cfg.Name, "err", err)
	f.cfg.OnFailed(fmt.Errorf("%s: %w", f.cfg.Name, err))
	c.Stop(c.Self())
}
