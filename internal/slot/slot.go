// Package slot is the desk of an actor that lets one long job run at a time: its
// place is reserved while the job is prepared elsewhere, then it runs, and at either
// time it can be aborted.
//
//	          Reserve   Release   Begin     Abort           End
//	idle      reserved  idle      idle      idle: false     idle
//	reserved  busy      idle      running   idle: true      reserved
//	running   busy      running   running   idle: true      idle
//
// Release and Begin do so for the slot that was issued last; for another one nothing
// changes. A job whose slot is not reserved is answered at once: with an empty result
// where the slot was aborted before the job came, else with an error.
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
	issued   uint64              // the last slot
	aborting chan struct{}       // closed when the preparation for it is aborted
	aborted  map[uint64]bool     // slots whose holders have not come yet
	answer   func(R, error) bool // of the running job
}

// New returns a desk that is idle.
func New[R any](cfg Config) *Desk[R] {
	return &Desk[R]{cfg: cfg, aborted: make(map[uint64]bool)}
}

// State returns what becomes of the place.
func (d *Desk[R]) State() State { return d.state }

// Reserve gives out a slot, unless the place is taken. A caller who has gone by then,
// which answer reports, gets none.
func (d *Desk[R]) Reserve(answer func(messages.ScanSlot, error) (received bool)) {
	if d.state != Idle {
		answer(messages.ScanSlot{}, d.cfg.Busy)
		return
	}
	d.issued, d.aborting = d.cfg.Issued.Add(1), make(chan struct{})
	if answer(messages.ScanSlot{ID: d.issued, Aborted: d.aborting}, nil) {
		d.state = Reserved
	}
}

// Release takes a slot back, whoever has one by now. The place of a running job stays
// taken.
func (d *Desk[R]) Release(id uint64) {
	delete(d.aborted, id)
	if d.state == Reserved && id == d.issued {
		d.state = Idle
	}
}

// Begin has a job take the place that is reserved with a slot; [Desk.End] calls answer.
// It reports false for a job that may not run, and answers it: with empty where its
// slot was aborted before it came.
func (d *Desk[R]) Begin(id uint64, answer func(R, error) (received bool), empty R) bool {
	if d.state == Reserved && id == d.issued {
		d.state, d.answer = Running, answer
		return true
	}
	d.answerExpired(id, answer, empty)
	return false
}

// answerExpired answers a job whose slot is not reserved any more.
func (d *Desk[R]) answerExpired(id uint64, answer func(R, error) bool, empty R) {
	if d.aborted[id] {
		delete(d.aborted, id)
		answer(empty, nil)
		return
	}
	var none R
	answer(none, d.cfg.Expired)
}

// Abort ends the running job, or the preparation of one, whose holder may be gone or
// come with it yet. It reports false where there is neither.
func (d *Desk[R]) Abort() bool {
	switch d.state {
	case Reserved:
		close(d.aborting)
		d.aborted[d.issued] = true
		d.state = Idle
	case Running:
		d.cfg.Stop()
	default:
		return false
	}
	return true
}

// End answers the running job and is free for the next. Without one it does nothing.
func (d *Desk[R]) End(result R, err error) {
	if d.state != Running {
		return
	}
	answer := d.answer
	d.state, d.answer = Idle, nil
	answer(result, err)
}
