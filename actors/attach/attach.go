// Package attach is the actor that owns the connection to the node that this one is
// attached to: it is notified of that node's new tips, and has the chain follow them.
//
// It serves [nodemsg.FetchBlock]: the other node is asked to get a block again that it
// has pruned. While the other node does not answer it is asked again, first after a
// second, then ever more seldom, up to every ten.
package attach

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

const (
	firstRetry = time.Second
	lastRetry  = 10 * time.Second

	// silence is how long the other node may have no new tip before it is asked again:
	// a node that hangs is noticed soon after.
	silence = 10 * time.Second
)

// A Node is what this node is attached to. Its methods may be called side by side.
type Node interface {
	// WaitNewBlock returns the hash of the tip once it is not have, or have after a
	// time of silence.
	WaitNewBlock(ctx context.Context, have *chainhash.Hash, atMost time.Duration) (chainhash.Hash, error)

	// Call calls a method and reads its result into to.
	Call(ctx context.Context, to any, method string, params ...any) error
}

// Config is what the actor is made of.
type Config struct {
	Node    Node
	Network *dialect.Network
	Chain   *ask.Ref // follows on request
	Log     *slog.Logger

	Learned func(version int) // keeps the version of the other node; it may write to the disk
	Chosen  bool              // the operator has chosen the version that this node speaks as
}

var table = ask.TableOf(ask.On((*Attach).fetchBlock))

// Requests lists what a plain protoactor request may ask.
var Requests = table.Served

// Attach is the actor; make one with [New].
type Attach struct {
	cfg    Config
	ctx    context.Context //nolint:containedctx // ends what is asked when the actor stops
	cancel context.CancelFunc

	tasks ask.Tasks
	timer ask.Timer // of the next attempt
	retry time.Duration
	shown shown // what the log has said last; of this instance

	version int // of the other node when it answered last; 0: not known yet
}

// shown is what of a state is worth a line in the log.
type shown struct {
	phase  messages.AttachPhase
	reason string
}

// again is the message that it is time for the next attempt.
type again struct{}

// followed is what the chain answers.
type followed struct{ err error }

// state is how it stands after that.
type state struct {
	messages.AttachState

	err      error
	followed error
}

// New returns the producer of the actor.
func New(cfg Config) actor.Producer {
	return func() actor.Actor {
		a := &Attach{cfg: cfg, retry: firstRetry}
		a.ctx, a.cancel = context.WithCancel(context.Background())
		return a
	}
}

// Receive implements actor.Actor.
func (a *Attach) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		a.follow(c)
	case *actor.Stopping, *actor.Restarting:
		a.cancel()
		a.timer.Stop()
		a.tasks.Drop()
	case again:
		a.follow(c)
	case followed:
		ask.Then(a.ctx, c, a.cfg.Chain, messages.GetAttachState{}, func(s messages.AttachState, err error) any {
			return state{s, err, m.err}
		})
	case state:
		a.learned(c, m)
	default:
		table.Serve(a, c)
	}
}

func (a *Attach) fetchBlock(c actor.Context, m *ask.Call[nodemsg.FetchBlock, []byte]) {
	a.tasks.Go(c, func() func() {
		raw, err := a.fetch(m.Ctx, m.Req.Hash)
		return func() { m.Answer(raw, err) }
	})
}

// follow has the chain follow the other node once.
func (a *Attach) follow(c actor.Context) {
	ask.Then(a.ctx, c, a.cfg.Chain, nodemsg.FollowNode{}, func(_ messages.Tip, err error) any {
		return followed{err}
	})
}

// learned waits for a new tip after the chain has followed, and for better times where it
// could not.
func (a *Attach) learned(c actor.Context, s state) {
	if s.err == nil {
		a.show(s.AttachState)
		a.noteVersion(c, s.Node.Version)
	}
	if err := errors.Join(s.followed, s.err); err != nil {
		a.later(c)
		return
	}
	a.retry = firstRetry
	have := s.Node.Tip
	a.tasks.Go(c, func() func() {
		for {
			tip, err := a.cfg.Node.WaitNewBlock(a.ctx, &have, silence)
			switch {
			case a.ctx.Err() != nil:
				return nil
			case err != nil || tip != have: // the chain finds out what the error is
				return func() { a.follow(c) }
			}
		}
	})
}

// noteVersion keeps the version of the other node for the next start, which then speaks as it does.
func (a *Attach) noteVersion(c actor.Context, version int) {
	if version == 0 || version == a.version {
		return
	}
	a.version = version
	if spoken := a.cfg.Network.Reference; !a.cfg.Chosen && dialect.ReferenceOf(version) != spoken {
		a.cfg.Log.Warn("Bitcoin Core is of another version than calls are answered as here until the next start",
			"version", version, "answers as", spoken)
	}
	if a.cfg.Learned != nil {
		a.tasks.Go(c, func() func() {
			a.cfg.Learned(version)
			return func() {}
		})
	}
}

// later tries again after a while.
func (a *Attach) later(c actor.Context) {
	a.timer.Set(c, a.retry, again{})
	a.retry = min(2*a.retry, lastRetry)
}

// show writes one line when something changes that an operator should know.
func (a *Attach) show(s messages.AttachState) {
	now := shown{s.Phase, s.Reason}
	if now == a.shown {
		return
	}
	a.shown = now
	level := slog.LevelInfo
	if s.Phase == messages.AttachAway || s.Phase == messages.AttachOther {
		level = slog.LevelWarn
	}
	args := []any{"state", string(s.Phase), "address", s.Node.Address, "height", s.Tip.Height}
	if s.Lag > 0 {
		args = append(args, "behind", s.Lag)
	}
	if s.Reason != "" {
		args = append(args, "reason", s.Reason)
	}
	a.cfg.Log.Log(a.ctx, level, "Attached node", args...)
}
