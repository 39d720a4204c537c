// Package blockindex is the actor that keeps one index of blocks in step with the
// active chain. The [follow.Target] defines what is indexed.
//
// Its requests are in table. Blocks are added in a worker, a batch at a time; between
// two batches a reorganisation is noticed. Readers do not ask this actor: they read the
// index, and report damage to the actor ([index.Damaged]). A damaged index
// is rebuilt.
package blockindex

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/follow"
	"github.com/seed61375155/trawl/internal/index"
	"github.com/seed61375155/trawl/messages"
)

// batchBlocks is how many blocks a step has at most.
const batchBlocks = 1000

// errPruned reports an index that lacks blocks which are gone.
var errPruned = errors.New("best block of the index goes beyond pruned data. " +
	"Please disable the index or reindex (which will download the whole blockchain again)")

// Config is what the actor is made of.
type Config struct {
	Name   string // of the index, in logs
	Target follow.Durable
	Chain  *chainview.Current
	Tip    *ask.Feed[messages.TipChanged]
	Log    *slog.Logger

	// PruneLocks owns the blocks. It is notified which of them the index has yet to read,
	// so that it does not prune them; absent or nil where none are pruned.
	PruneLocks *ask.Ref

	OnFailed func(error) // is called with the reason why the actor stops for good
}

var table = ask.TableOf(ask.AtOnce((*Updater).status), ask.On((*Updater).waitIdle))

// Requests lists what a plain protoactor request may ask.
var Requests = table.Served

// Updater is the actor; make one with [New].
type Updater struct {
	cfg      Config
	follower *follow.Follower
	progress corelog.Progress

	tidier  index.Tidier    // nil: nothing is to be tidied up
	tidying ask.Tasks       // at most one
	untidy  bool            // the index has moved since it was tidied up
	ctx     context.Context //nolint:containedctx // ends the tidying
	cancel  context.CancelFunc
}

// New returns the producer of the actor.
func New(cfg Config) actor.Producer {
	return func() actor.Actor {
		u := &Updater{cfg: cfg}
		u.ctx, u.cancel = context.WithCancel(context.Background())
		if target, ok := cfg.Target.(*index.Target); ok {
			u.tidier, _ = target.Blocks.(index.Tidier)
		}
		u.follower = follow.New(follow.Config{
			Name: cfg.Name, Target: cfg.Target, Chain: cfg.Chain, Tip: cfg.Tip, PruneLocks: cfg.PruneLocks,
			Batch: batchBlocks, SyncAtTip: !cfg.PruneLocks.IsAbsent(),
			Moved: u.moved, Synced: u.logSynced, Failed: u.failed,
			LeftOut: func(b *chainview.Block, err error) {
				cfg.Log.Warn("index leaves a stale branch out", "index", cfg.Name, "block", b.Hash, "err", err)
			},
		})
		return u
	}
}

// Receive implements actor.Actor.
func (u *Updater) Receive(c actor.Context) {
	if u.follower.Receive(c) {
		return
	}
	switch m := c.Message().(type) {
	case *actor.Started:
		u.tidy(c)
	case *actor.Stopping, *actor.Restarting:
		u.cancel()
		u.tidying.Drop()
	case messages.TipChanged:
	case index.Damaged:
		u.follower.Damaged(c, m.Err)
	default:
		table.Serve(u, c)
	}
}

func (u *Updater) moved(c actor.Context) {
	u.logProgress(c)
	u.untidy = true
	u.tidy(c)
}

// tidy has the index tidied up in a worker, and again if the index has moved meanwhile.
func (u *Updater) tidy(c actor.Context) {
	if u.tidier == nil || u.tidying.Len() > 0 {
		return
	}
	u.untidy = false
	u.tidying.Go(c, func() func() {
		err := u.tidier.Tidy(u.ctx)
		return func() {
			switch {
			case errors.Is(err, index.ErrDamaged):
				u.follower.Damaged(c, err)
			case err != nil && u.ctx.Err() == nil:
				u.cfg.Log.Warn("index cannot be tidied up, trying again with the next block", "index", u.cfg.Name,
					"err", err)
			case u.untidy:
				u.tidy(c)
			}
		}
	})
}

func (u *Updater) waitIdle(c actor.Context, m *ask.Call[messages.WaitIndexIdle, messages.Done]) {
	u.follower.When(c, nil, func(err error) {
		if errors.Is(err, index.ErrDamaged) {
			err = index.ErrDamaged
		}
		m.Answer(messages.Done{}, err)
	})
}

func (u *Updater) status(messages.GetIndexStatus) (messages.IndexStatus, error) {
	status := u.follower.Status()
	if !status.Started {
		return messages.IndexStatus{Height: -1}, nil
	}
	return messages.IndexStatus{Height: status.Height, Hash: status.Hash, Synced: status.Synced}, nil
}

func (u *Updater) logSynced(actor.Context) {
	corelog.Printf(u.cfg.Log, slog.LevelInfo, "%s is enabled at height %d", u.cfg.Name, u.follower.Status().Height)
}

func (u *Updater) logProgress(actor.Context) {
	at, tip := u.follower.Status(), u.cfg.Chain.Open().Active().Tip()
	if tip.Hash == at.Hash {
		u.progress = corelog.Progress{}
		return
	}
	share := float64(at.Height) / float64(max(tip.Height, 1))
	if words := u.progress.Words(time.Now(), int64(at.Height), share, "blocks"); words != "" {
		corelog.Printf(u.cfg.Log, slog.LevelInfo, "Syncing %s with block chain from height %d of %d, %s",
			u.cfg.Name, at.Height, tip.Height, words)
	}
}

// failed says why the actor cannot go on: a block cannot be read, or the index not
// written.
func (u *Updater) failed(err error) {
	if errors.Is(err, chainview.ErrPruned) {
		err = fmt.Errorf("%w: %w", errPruned, err)
	}
	u.cfg.Log.Error("index failed", "index", u.cfg.Name, "err", err)
	u.cfg.OnFailed(fmt.Errorf("%s: %w", u.cfg.Name, err))
}
