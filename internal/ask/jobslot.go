package ask

import (
	"sync/atomic"

	"github.com/seed61375155/trawl/messages"
)

// JobState is what becomes of the one place.
type JobState int

// The states of a job slot.
const (
	JobIdle     JobState = iota // nobody has the place
	JobReserved                 // a job is being prepared
	JobRunning                  // a job runs
	JobHeld                     // a job was answered; the holder of its slot works on the result
)

// JobSlotConfig is what a [JobSlot] is made of.
type JobSlotConfig struct {
	// Issued counts the slots of all instances of the actor, so that none is given
	// twice.
	Issued *atomic.Uint64

	Busy    error // answers a request for a slot while the place is taken
	Expired error // answers a job whose slot is neither reserved nor held

	// Stop ends the running job before it returns: it calls [JobSlot.End] with the
	// results found until then.
	Stop func()
}

// A JobSlot is the place for the one long job that an actor runs at a time. It gives out
// one slot after the other, and answers the jobs; their results are of type R. Make one
// with [NewJobSlot]. It is its actor's: not safe for concurrent use.
//
// The place is reserved while the job is prepared elsewhere, the job runs, and where the holder
// asked to keep the place, it stays taken while the holder works on the result.
//
//	          Reserve   Release   Begin     Abort     End
//	idle      reserved  -         -         -         -
//	reserved  busy      idle      running   -         -
//	running   busy      -         -         stopped   idle, or held if kept
//	held      busy      idle      running   -         -
//
// A dash keeps the state. Release and Begin act on the slot that was issued last;
// another slot changes nothing. The holder of a slot is notified of an abort, ends its work and
// gives the place back: nobody else gets the place before. A holder may begin one job after the other. A job whose
// slot was aborted before it came is answered at once with an empty result; a job whose slot is neither reserved nor
// held, with an error.
type JobSlot[R any] struct {
	cfg JobSlotConfig

	state    JobState
	issued   uint64        // the last slot
	aborting chan struct{} // closed when the holder of the last slot is to end
	aborted  bool          // it is closed
	keep     bool          // the running job's holder gives the place back
	progress int           // percent of the holder's work, as reported
	reported bool          // the holder did report since its job began or ended
	answer   func(R, error) bool
}

// NewJobSlot returns an idle job slot.
func NewJobSlot[R any](cfg JobSlotConfig) *JobSlot[R] { return &JobSlot[R]{cfg: cfg} }

// State returns what becomes of the place.
func (s *JobSlot[R]) State() JobState { return s.state }

// Holds reports whether the place is taken with a slot.
func (s *JobSlot[R]) Holds(id uint64) bool { return s.state != JobIdle && id == s.issued }

// Progress returns the percentage that the holder last reported for its present work,
// before or after its job. Until it reports, percent is 0 and reported is false.
func (s *JobSlot[R]) Progress() (percent int, reported bool) { return s.progress, s.reported }

// Reserve gives out a slot, unless the place is taken. It reports whether it did.
// No slot is given out when answer reports that the caller has gone.
func (s *JobSlot[R]) Reserve(answer func(messages.ScanSlot, error) (received bool)) bool {
	if s.state != JobIdle {
		answer(messages.ScanSlot{}, s.cfg.Busy)
		return false
	}
	s.issued, s.aborting = s.cfg.Issued.Add(1), make(chan struct{})
	if !answer(messages.ScanSlot{ID: s.issued, Aborted: s.aborting}, nil) {
		return false
	}
	s.state, s.aborted, s.keep, s.progress, s.reported = JobReserved, false, false, 0, false
	return true
}

// Report notes how far the holder of a slot is, and reports whether it did: not of another slot, nor while the job
// runs.
func (s *JobSlot[R]) Report(id uint64, progress int) bool {
	if id != s.issued || s.state != JobReserved && s.state != JobHeld {
		return false
	}
	s.progress, s.reported = min(max(progress, 0), 100), true
	return true
}

// Release takes a slot back and reports whether the place became free. The place of a
// running job stays taken until the job ends, and no longer.
func (s *JobSlot[R]) Release(id uint64) bool {
	if s.state == JobIdle || id != s.issued {
		return false
	}
	if s.state == JobRunning {
		s.keep = false
		return false
	}
	s.state = JobIdle
	return true
}

// Begin has a job take the place that is reserved with a slot; [JobSlot.End] calls answer.
// With keep the place stays taken after that, until its slot is released. Begin reports
// false for a job that may not run, and answers it: with empty where its slot was
// aborted.
func (s *JobSlot[R]) Begin(id uint64, keep bool, answer func(R, error) (received bool), empty R) bool {
	if s.state != JobReserved && s.state != JobHeld || id != s.issued {
		var none R
		answer(none, s.cfg.Expired)
		return false
	}
	s.state, s.keep, s.answer = JobRunning, keep, answer
	if s.aborted {
		s.End(empty, nil)
		return false
	}
	return true
}

// Abort ends the running job, and notifies the holder to end its work before or after the
// job. It reports false where nobody has the place.
func (s *JobSlot[R]) Abort() bool {
	if s.state == JobIdle {
		return false
	}
	if !s.aborted {
		s.aborted = true
		close(s.aborting)
	}
	if s.state == JobRunning {
		s.cfg.Stop()
	}
	return true
}

// End answers the running job. The place is free for the next unless it is kept and the
// answer was received. Without a job End does nothing.
func (s *JobSlot[R]) End(result R, err error) {
	if s.state != JobRunning {
		return
	}
	answer := s.answer
	s.answer, s.progress, s.reported = nil, 0, false
	s.state = JobIdle
	if s.keep {
		s.state = JobHeld
	}
	if !answer(result, err) {
		s.state = JobIdle
	}
}
