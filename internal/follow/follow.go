package follow

import (
	"context"
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

var (
	// ErrDamaged in an error of a Target says that it cannot be read as it was written,
	// and has to be built again.
	ErrDamaged = errors.New("follow: target is damaged")

	// ErrUnknown says that the chain does not know the position of a Target: the power
	// failed, and the chain has lost more than the target.
	ErrUnknown = errors.New("follow: the chain does not know the last block")

	errNoMove = errors.New("follow: a step has moved nothing")
)

const (
	defaultBatch = 64
	defaultRetry = 30 * time.Second

	// syncEvery is how often a Durable target is synced on its way.
	syncEvery = 5 * time.Second
)

// A Step leads from the position of a target some way to the tip.
type Step struct {
	Reader     chainview.Reader
	Chain      *chainview.Chain   // the active one
	Disconnect []*chainview.Block // highest first; the first is the position
	Connect    []*chainview.Block // ascending, on the fork; empty while there is more to disconnect
}

// A Target is kept in step with the chain.
type Target interface {
	// Position returns the last block taken in; ok is false before the first. It is
	// called in the actor while no step runs.
	Position() (at messages.Tip, ok bool)

	// Advance takes a step, or its beginning, in the worker. apply, unless it is nil,
	// runs in the actor afterwards, and may take less than was read. Both may be
	// returned: apply is of the part before the error.
	Advance(ctx context.Context, s Step) (apply func() error, err error)

	// Reset takes the target back to a position that the reader knows, or empties it, in
	// the worker. The error why wraps ErrDamaged, or is ErrUnknown, or chainview.ErrNotYet
	// (see [Config.Leaps]). The function apply is as in Advance.
	Reset(reader chainview.Reader, why error) (apply func() error, err error)
}

// A Durable target is on disk, and changes in the worker alone. A loss of power may undo its
// steps until Sync has returned.
type Durable interface {
	Target

	// Sync makes sure of all up to the position. It runs in the worker, and so may
	// Position.
	Sync() error
}

// Config is what a Follower is made of. Its functions are called in the actor.
type Config struct {
	Name   string // of the prune lock
	Target Target
	Chain  *chainview.Current
	Tip    *ask.Feed[messages.TipChanged]

	// PruneLocks owns the blocks. It is notified how far a Durable target is, so that it
	// prunes nothing that is yet to be read. Absent or nil: no block is pruned.
	PruneLocks *ask.Ref

	// Leaps has the target reset, for [chainview.ErrNotYet], where the chain begins with a snapshot and
	// the blocks between the position and that are not there: it goes on behind them.
	Leaps bool

	Batch     int           // how many blocks a step has at most; default 64
	Retry     time.Duration // after a failure; default 30 seconds
	SyncAtTip bool          // sync a Durable target whenever it reaches the tip, not only every few seconds

	// To returns the block that the target is to be taken to, of any branch. It is asked often,
	// and whoever changes it wakes the follower afterwards. Nil: to the active tip.
	To func(chainview.Reader) *chainview.Block

	// Paused reports whether no step may begin now; whoever pauses a follower wakes it
	// afterwards. Nil: it is never paused.
	Paused func() bool

	// Stepped is called when a step is over, whether it moved the target or failed. Nil: nothing is.
	Stepped func(actor.Context)

	// Moved is called after a step that moved the target. Reached is called whenever the target is at the tip,
	// before the callbacks of those waiting for the tip. Synced is called before Reached the
	// first time, and the first time after a reset for damage. Each may be nil.
	Moved, Reached, Synced func(actor.Context)

	// Waits is notified why the target does not go on at the moment. Nil: nobody is.
	Waits func(error)

	// Failed is notified of an error that nothing mends; the actor stops then. Nil: the
	// follower tries again.
	Failed func(error)

	// LeftOut is notified of a stale branch that a Recorder could not be led through. May be nil.
	LeftOut func(end *chainview.Block, err error)
}

// Status is how far a target is. While blocks before a snapshot are to be validated, the last that is counts
// as the tip.
type Status struct {
	messages.Tip       // the position
	Started      bool  // there is a position
	Synced       bool  // the tip was reached, and the target was neither damaged nor far behind since
	Err          error // why it does not go on at the moment
}

// farBehind is how many blocks the tip may be ahead of a target that is in step with the
// chain. More come at a time when the chain of another node is followed, or many blocks are
// read from a file: a wait for the target then takes long.
const farBehind = 1000

// A Follower belongs to one actor, which calls all of its methods.
type Follower struct {
	cfg    Config
	ctx    context.Context //nolint:containedctx // ends the worker when the actor stops
	cancel context.CancelFunc

	work    ask.Tasks // the step that runs
	tips    bool      // a tip was announced since the step began
	timer   ask.Timer // for another attempt
	waiting []waiter

	at        messages.Tip
	started   bool // at is a position
	synced    bool
	behind    bool // far, since the tip was reached last
	err       error
	damage    error     // to be mended by the next step
	resetting bool      // the target was reset for damage, and has yet to reach the tip
	durable   time.Time // of the last sync

	stale *chainview.Block         // end of the branch that a Recorder is led through; nil: of none
	tried map[chainhash.Hash]tries // by the ends of stale branches

	wanted  int32 // height of the prune lock
	locking bool  // it is being set
}

// waiter is a caller's wait for a block.
type waiter struct {
	block *chainview.Block // nil: the tip, once there is a chain
	then  func(error)
}

// New makes the follower of an actor that starts.
func New(cfg Config) *Follower {
	if cfg.Batch == 0 {
		cfg.Batch = defaultBatch
	}
	if cfg.Retry == 0 {
		cfg.Retry = defaultRetry
	}
	f := &Follower{cfg: cfg, durable: time.Now()}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f
}

// Receive is shown every message of the actor, and returns true for those that are the
// follower's own. It starts and ends with the actor.
func (f *Follower) Receive(c actor.Context) bool {
	switch m := c.Message().(type) {
	case *actor.Started:
		f.cfg.Tip.SubscribeLatest(c)
		f.next(c)
	case *actor.Stopping, *actor.Restarting:
		f.cfg.Tip.Unsubscribe(c)
		f.stop()
	case messages.TipChanged:
		f.tips, f.err = true, nil
		f.next(c)
	case retry:
		if m.of == f {
			f.err = nil
			f.next(c)
		}
		return m.of == f || m.of.ctx.Err() != nil
	case locked:
		if m.of == f {
			f.locked(c, m)
		}
		return m.of == f || m.of.ctx.Err() != nil
	}
	return false
}

func (f *Follower) stop() {
	f.cancel()
	f.timer.Stop()
	f.work.Drop()
}

// Wake takes the next step if there is one. It is called when the target or a pause has
// changed otherwise than by a step.
func (f *Follower) Wake(c actor.Context) { f.next(c) }

// Busy reports whether a step runs.
func (f *Follower) Busy() bool { return f.work.Len() > 0 }

// Damaged tells the follower that the target was found damaged by a reader.
func (f *Follower) Damaged(c actor.Context, err error) {
	f.damaged(err)
	f.next(c)
}

// When calls back when the target has connected block b (nil: the active tip), and has
// disconnected all blocks that left the chain. If b itself leaves the chain, it calls back
// when the target has left it, too. It calls back with an error when that cannot be.
func (f *Follower) When(c actor.Context, b *chainview.Block, then func(error)) {
	if reader := f.cfg.Chain.Open(); b == nil && reader != nil {
		b = reader.Active().Tip()
	}
	f.waiting = append(f.waiting, waiter{b, then})
	f.next(c)
}

// Status returns how far the target is.
func (f *Follower) Status() Status {
	f.readPosition()
	return Status{Tip: f.at, Started: f.started, Synced: f.synced && !f.behind, Err: f.err}
}

// readPosition notes where the target is. While a step runs it is where it was before.
func (f *Follower) readPosition() {
	if !f.Busy() && f.damage == nil {
		f.at, f.started = f.cfg.Target.Position()
	}
}

// serve calls those back whose block was taken in, or left the chain without the target.
// It reports whether there were any.
func (f *Follower) serve(reader chainview.Reader) (served bool) {
	var at *chainview.Block
	if f.started {
		at = reader.Lookup(&f.at.Hash)
	}
	active := reader.Active()
	inStep := at != nil && active.Contains(at) // nothing of it is to be disconnected
	waiting := f.waiting
	f.waiting = nil
	for _, w := range waiting {
		if w.block == nil {
			w.block = active.Tip()
		}
		switch {
		case inStep && at.Ancestor(w.block.Height).Is(w.block),
			at.Is(active.Tip()) && !active.Contains(w.block):
			served = true
			w.then(nil)
		default:
			f.waiting = append(f.waiting, w)
		}
	}
	return served
}

// refuse ends all waits with an error.
func (f *Follower) refuse(err error) {
	waiting := f.waiting
	f.waiting = nil
	for _, w := range waiting {
		w.then(err)
	}
	if f.cfg.Waits != nil {
		f.cfg.Waits(err)
	}
}
