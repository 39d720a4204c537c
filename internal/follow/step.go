package follow

import (
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// Messages of a follower to its actor.
type (
	// retry says that the time for another attempt has come.
	retry struct{ of *Follower }
	// locked says that the prune lock was set, or why not.
	locked struct {
		of     *Follower
		height int32
		err    error
	}
)

// outcome is what the worker of a step returns.
type outcome struct {
	from    *chainhash.Hash  // the position before; nil: there was none
	to      *chainview.Block // where the way was to end
	stale   *chainview.Block // end of the branch that a Recorder is led through; nil: of none
	reset   bool
	apply   func() error
	durable bool // the position survives a loss of power
	err     error
}

// next takes the next step, unless one runs.
func (f *Follower) next(c actor.Context) {
	reader := f.cfg.Chain.Open()
	if reader == nil || !f.free() {
		return
	}
	f.timer.Stop()
	f.readPosition()
	var from *chainhash.Hash
	var at *chainview.Block
	why := f.damage
	if f.started {
		from, at = &f.at.Hash, reader.Lookup(&f.at.Hash)
		if at == nil && why == nil {
			why = ErrUnknown
		}
	}
	if why != nil {
		f.lock(c, 0)
		f.reset(c, reader, from, why)
		return
	}
	step := Step{Reader: reader, Chain: reader.Active()}
	to := f.to(reader)
	if stale := f.staleBranch(reader, step.Chain, at); stale != nil {
		step.Disconnect, step.Connect = planTo(stale, at, f.cfg.Batch)
		f.advance(c, step, outcome{from: from, to: to, stale: stale})
		return
	}
	step.Disconnect, step.Connect = planTo(to, at, f.cfg.Batch)
	planned := len(step.Disconnect) + len(step.Connect)
	step.Connect = present(reader, step.Chain, step.Connect)
	switch {
	case planned == 0:
		f.reached(c)
		f.serve(reader)
	case f.serve(reader):
		f.next(c) // those who were called back may have changed what the step is from
	case len(step.Disconnect)+len(step.Connect) == 0:
		f.lacking(c, reader, from)
	default:
		f.behind = f.behind || step.Chain.Height()-f.height() > farBehind
		f.advance(c, step, outcome{from: from, to: to})
	}
}

// to returns the block that the target is to be taken to.
func (f *Follower) to(reader chainview.Reader) *chainview.Block {
	if f.cfg.To == nil {
		return reader.Active().Tip()
	}
	return f.cfg.To(reader)
}

func (f *Follower) reset(c actor.Context, reader chainview.Reader, from *chainhash.Hash, why error) {
	f.begin(c, outcome{from: from, to: f.to(reader), reset: true}, func(o *outcome) {
		o.apply, o.err = f.cfg.Target.Reset(reader, why)
	})
}

// lacking deals with a next block of before a snapshot, that is still to come or to be validated.
// The target goes on behind the snapshot, or it is as far as it can be.
func (f *Follower) lacking(c actor.Context, reader chainview.Reader, from *chainhash.Hash) {
	if f.cfg.Leaps {
		f.reset(c, reader, from, chainview.ErrNotYet)
		return
	}
	f.caughtUp(c)
	f.err = chainview.ErrNotYet
	f.refuse(f.err)
}

// caughtUp notes that the target has taken in all that it could.
func (f *Follower) caughtUp(c actor.Context) {
	first := !f.synced
	f.synced, f.behind, f.resetting, f.err = true, false, false, nil
	if first && f.cfg.Synced != nil {
		f.cfg.Synced(c)
	}
}

// height returns that of the position, -1 where there is none.
func (f *Follower) height() int32 {
	if !f.started {
		return -1
	}
	return f.at.Height
}

// free reports whether a step may begin.
func (f *Follower) free() bool {
	return !f.Busy() && f.ctx.Err() == nil && (f.cfg.Paused == nil || !f.cfg.Paused())
}

func (f *Follower) advance(c actor.Context, step Step, begun outcome) {
	due := time.Since(f.durable) > syncEvery
	f.begin(c, begun, func(o *outcome) {
		if recorder, ok := f.cfg.Target.(Recorder); ok && o.stale != nil {
			recorded, err := recorder.Recorded(step.Reader, o.stale)
			if o.err = err; recorded || err != nil {
				return
			}
		}
		o.apply, o.err = f.cfg.Target.Advance(f.ctx, step)
		target, ok := f.cfg.Target.(Durable)
		if !ok || o.err != nil {
			return
		}
		if at, _ := target.Position(); due || f.cfg.SyncAtTip && at.Hash == o.to.Hash {
			o.err = target.Sync()
			o.durable = o.err == nil
		}
	})
}

// begin has a worker do what a step consists of. The hash in o is copied, since it is
// that of a position which changes.
func (f *Follower) begin(c actor.Context, o outcome, work func(*outcome)) {
	f.tips, f.damage = false, nil
	if o.from != nil {
		from := *o.from
		o.from = &from
	}
	f.work.Go(c, func() func() {
		work(&o)
		return func() {
			f.stepped(c, &o)
			if f.cfg.Stepped != nil {
				f.cfg.Stepped(c)
			}
		}
	})
}

// stepped takes over what a step has done.
func (f *Follower) stepped(c actor.Context, m *outcome) {
	err := m.err
	if m.apply != nil {
		if applyErr := m.apply(); err == nil {
			err = applyErr
		}
	}
	if f.damage != nil { // a reader has found it meanwhile: what was done is gone
		f.next(c)
		return
	}
	f.readPosition()
	moved := f.started != (m.from != nil) || f.started && f.at.Hash != *m.from
	if err == nil && !moved && !m.reset && f.unchanged(m.to) {
		err = errNoMove
	}
	if err == nil && m.reset && f.started && f.unknown() && f.unchanged(m.to) {
		err = ErrUnknown
	}
	if m.stale != nil {
		err = f.ledThrough(m, moved, err)
	}
	f.report(c, m, moved, err)
}

// report goes on after a step, or says why not.
func (f *Follower) report(c actor.Context, m *outcome, moved bool, err error) {
	if m.durable {
		f.durable = time.Now()
		if f.started {
			f.lock(c, f.at.Height)
		}
	}
	if moved && f.cfg.Moved != nil {
		f.cfg.Moved(c)
	}
	switch {
	case err == nil:
		f.err = nil
		f.next(c)
	case errors.Is(err, chainview.ErrClosed):
		if f.tips { // it was opened again while the step ran
			f.next(c)
		}
	case errors.Is(err, chainview.ErrNotYet):
		f.err = err
		f.retryLater(c)
	case errors.Is(err, ErrDamaged) && !f.resetting:
		f.damaged(err)
		f.next(c)
	default:
		f.failed(c, err)
	}
}

// unchanged reports whether the target is still to be taken to a block: if not, what a step
// did not take may have left the chain meanwhile.
func (f *Follower) unchanged(to *chainview.Block) bool {
	reader := f.cfg.Chain.Open()
	return reader != nil && f.to(reader).Is(to)
}

// unknown reports whether the chain does not know the position.
func (f *Follower) unknown() bool {
	reader := f.cfg.Chain.Open()
	return reader != nil && reader.Lookup(&f.at.Hash) == nil
}

// damaged has the target reset by the next step.
func (f *Follower) damaged(err error) {
	if f.resetting {
		return // known, or gone meanwhile
	}
	f.damage, f.resetting = err, true
	f.at, f.started, f.synced = messages.Tip{}, false, false
	f.refuse(err)
}

// reached notes that the target is at the tip.
func (f *Follower) reached(c actor.Context) {
	f.caughtUp(c)
	if f.cfg.Reached != nil {
		f.cfg.Reached(c)
	}
}

func (f *Follower) failed(c actor.Context, err error) {
	f.err = err
	if reader := f.cfg.Chain.Open(); reader != nil {
		f.serve(reader)
	}
	f.refuse(err)
	switch {
	case f.cfg.Failed != nil:
		f.stop()
		f.cfg.Failed(err)
		c.Stop(c.Self())
	case f.tips:
		f.next(c)
	default:
		f.retryLater(c)
	}
}

// lock says up to which height blocks are no longer needed. One request is under way at a
// time, since two may overtake each other.
func (f *Follower) lock(c actor.Context, height int32) {
	if f.cfg.PruneLocks.IsAbsent() {
		return
	}
	if f.wanted = height; f.locking {
		return
	}
	f.locking = true
	ask.Then(f.ctx, c, f.cfg.PruneLocks, nodemsg.SetPruneLock{Name: f.cfg.Name, Height: height},
		func(_ messages.Done, err error) any { return locked{f, height, err} })
}

// locked sets the lock again where it was to be moved meanwhile, or was lost because its
// keeper was restarted.
func (f *Follower) locked(c actor.Context, m locked) {
	if f.locking = false; f.wanted != m.height || errors.Is(m.err, ask.ErrRestarted) {
		f.lock(c, f.wanted)
	}
}

func (f *Follower) retryLater(c actor.Context) { f.timer.Set(c, f.cfg.Retry, retry{f}) }
