// Package slot is the desk of an actor that lets one long job run at a time. The place
// is reserved while the job is prepared elsewhere, the job runs, and where the holder
// asked to keep the place, it stays taken while the holder works on the result.
//
//	          Reserve   Release   Begin     Abort     End
//	idle      reserved  idle      idle      idle      idle
//	reserved  busy      idle      running   reserved  reserved
//	running   busy      running   running   stopped   idle, or held if kept
//	held      busy      idle      held      held      held
//
// Release and Begin act on the slot that was issued last; another slot changes nothing.
// An abort is told to the holder, who ends his work and gives the place back: nobody
// else gets it before. A job whose slot was aborted before it came is answered at once
// with an empty result; a job whose slot is not reserved, with an error.
package slot

import (
	"sync/atomic"

	"github.com/seed61375155/trawl/messages"
)

// State is what becomes of the one place.
type State int

// The states of a desk.
const (
	Idle     State = iota // nobody has the place
	Reserved              // a job is being prepared
	Running               // a job runs
	Held                  // a job was answered; its holder works on the result
)

// Config is what a [Desk] is made of.
type Config struct {
	// Issued counts the slots of all instances of the actor, so that none is given
	// twice.
	Issued *atomic.Uint64

	Busy    error // answers who wants a slot while there is none
	Expired error // answers a job whose slot is not reserved

	// Stop ends the running job, before it returns, by [Desk.End] with what has been
	// found.
	Stop func()
}

// A Desk gives out one slot after the other, and answers the jobs, whose results are
// of type R; make one with [New]. It is its actor's: not safe for concurrent use.
type Desk[R any] struct {
	cfg Config

	state    State
	issued   uint64        // the last slot
	aborting chan struct{} // closed when the holder of the last slot is to end
	aborted  bool          // it is closed
	keep     bool          // the running job's holder gives the place back
	progress int           // percent of what the holder does, as he reported
	reported bool          // he did, since his job began or ended
	answer   func(R, error) bool
}

// New returns a desk that is idle.
func New[R any](cfg Config) *Desk[R] { return &Desk[R]{cfg: cfg} }

// State returns what becomes of the place.
func (d *Desk[R]) State() State { return d.state }

// Progress returns how far the holder is, in percent, with what he does now: before his
// job, or after it. It is 0 and not reported until he has said so.
func (d *Desk[R]) Progress() (percent int, reported bool) { return d.progress, d.reported }

// Reserve gives out a slot, unless the place is taken. It reports whether it did: a
// caller who has gone by then, which answer reports, gets none.
func (d *Desk[R]) Reserve(answer func(messages.ScanSlot, error) (received bool)) bool {
	if d.state != Idle {
		answer(messages.ScanSlot{}, d.cfg.Busy)
		return false
	}
	d.issued, d.aborting = d.cfg.Issued.Add(1), make(chan struct{})
	if !answer(messages.ScanSlot{ID: d.issued, Aborted: d.aborting}, nil) {
		return false
	}
	d.state, d.aborted, d.keep, d.progress, d.reported = Reserved, false, false, 0, false
	return true
}

// Report notes how far the holder of a slot is. Of another slot, or while the job runs,
// it notes nothing.
func (d *Desk[R]) Report(id uint64, progress int) {
	if id == d.issued && (d.state == Reserved || d.state == Held) {
		d.progress, d.reported = min(max(progress, 0), 100), true
	}
}

// Release takes a slot back and reports whether the place became free. The place of a
// running job stays taken until the job ends, and no longer.
func (d *Desk[R]) Release(id uint64) bool {
	if d.state == Idle || id != d.issued {
		return false
	}
	if d.state == Running {
		d.keep = false
		return false
	}
	d.state = Idle
	return true
}

// Begin has a job take the place that is reserved with a slot; [Desk.End] calls answer.
// With keep the place stays taken after that, until its slot is released. Begin reports
// false for a job that may not run, and answers it: with empty where its slot was
// aborted.
func (d *Desk[R]) Begin(id uint64, keep bool, answer func(R, error) (received bool), empty R) bool {
	if d.state != Reserved || id != d.issued {
		var none R
		answer(none, d.cfg.Expired)
		return false
	}
	d.state, d.keep, d.answer = Running, keep, answer
	if d.aborted {
		d.End(empty, nil)
		return false
	}
	return true
}

// Abort ends the running job, and tells the holder to end what he does before or after
// it. It reports false where nobody has the place.
func (d *Desk[R]) Abort() bool {
	if d.state == Idle {
		return false
	}
	if !d.aborted {
		d.aborted = true
		close(d.aborting)
	}
	if d.state == Running {
		d.cfg.Stop()
	}
	return true
}

// End answers the running job. The place is free for the next unless it is kept and the
// answer was received. Without a job End does nothing.
func (d *Desk[R]) End(result R, err error) {
	if d.state != Running {
		return
	}
	answer := d.answer
	d.answer, d.progress, d.reported = nil, 0, false
	d.state = Idle
	if d.keep {
		d.state = Held
	}
	if !answer(result, err) {
		d.state = Idle
	}
}
