// Package blockindex is the actor that keeps one index of blocks in step with the
// active chain. What the index is of, an [Index] knows.
//
// It serves [messages.GetIndexStatus] and [messages.WaitIndexIdle]. Blocks are
// added in a worker, a batch at a time; between two batches a reorganisation is
// noticed. Readers do not ask this actor: they read the index.
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
	"github.com/seed61375155/trawl/messages"
)

const (
	// batchBlocks and batchTime end a batch, whichever comes first.
	batchBlocks = 1000
	batchTime   = time.Second

	// logEvery is how often the log is told how far the index has come.
	logEvery = 30 * time.Second
)

// An Index is kept by this actor: one worker at a time calls its methods.
type Index interface {
	// Best returns the last block in the index; ok is false when it is empty.
	Best() (hash chainhash.Hash, height int32, ok bool)

	// Connect adds the block that follows the best one; the first is the genesis
	// block.
	Connect(reader chainview.Reader, b *chainview.Block) error

	// Disconnect takes the best block back.
	Disconnect(reader chainview.Reader, b *chainview.Block) error

	// Clear empties the index.
	Clear() error
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
	status messages.IndexStatus
	idle   []*waitIdle
	logged time.Time
}

// built tells the actor what a batch has done.
type built struct {
	status messages.IndexStatus // Synced: the tip was reached
	err    error
}

// New returns the producer of the actor.
func New(cfg Config) actor.Producer {
	return func() actor.Actor {
		f := &Follower{cfg: cfg, logged: time.Now(), status: messages.IndexStatus{Height: -1}}
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
// until the tip is reached.
func (f *Follower) build(c actor.Context) {
	reader := f.cfg.Chain.Open()
	if f.worker != nil || reader == nil {
		return
	}
	f.worker = ask.Go(c, func() any {
		err := f.batch(reader)
		hash, height, ok := f.cfg.Index.Best()
		status := messages.IndexStatus{Height: height, Hash: hash}
		status.Synced = ok && reader.Active().Tip().Hash == hash
		if !ok {
			status.Height = -1
		}
		return built{status, err}
	})
}

// batch takes the index some way to the tip.
func (f *Follower) batch(reader chainview.Reader) error {
	began := time.Now()
	for range batchBlocks {
		select {
		case <-f.ctx.Done():
			return nil
		default:
		}
		if time.Since(began) > batchTime {
			return nil
		}
		done, err := f.step(reader)
		if done || err != nil {
			return err
		}
	}
	return nil
}

// step adds or takes back one block. done reports that the index is at the tip.
func (f *Follower) step(reader chainview.Reader) (done bool, err error) {
	active := reader.Active()
	hash, _, ok := f.cfg.Index.Best()
	if !ok {
		return false, f.cfg.Index.Connect(reader, active.At(0))
	}
	best := reader.Lookup(&hash)
	if best == nil {
		// The power failed, and the chain knows less than the index.
		f.cfg.Log.Warn("index is ahead of the chain, building it anew", "index", f.cfg.Name)
		return false, f.cfg.Index.Clear()
	}
	if !active.Contains(best) {
		return false, f.cfg.Index.Disconnect(reader, best)
	}
	next := active.Next(best)
	if next == nil {
		return true, nil
	}
	return false, f.cfg.Index.Connect(reader, next)
}

// took takes over what a batch has done.
func (f *Follower) took(c actor.Context, m built) {
	f.worker = nil
	switch {
	case errors.Is(m.err, chainview.ErrClosed):
		return // the chain's actor opens it again, and announces its tip then
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
	f.lock(c)
	if reached {
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

// lock tells the keeper of the blocks how far the index is.
func (f *Follower) lock(c actor.Context) {
	if f.cfg.Keeper == nil || f.status.Height < 0 {
		return
	}
	ask.Then(f.ctx, c, f.cfg.Keeper, messages.SetPruneLock{Name: f.cfg.Name, Height: f.status.Height},
		func(messages.Done, error) any { return nil })
}

// failed ends what cannot go on: a block cannot be read, or the index not written.
func (f *Follower) failed(c actor.Context, err error) {
	if f.ctx.Err() != nil {
		return // stopping
	}
	f.cfg.Log.Error("index failed", "index", f.cfg.Name, "err", err)
	f.cfg.OnFailed(fmt.Errorf("%s: %w", f.cfg.Name, err))
	c.Stop(c.Self())
}
