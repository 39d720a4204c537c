package ask_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

var (
	errBusy    = errors.New("busy")
	errExpired = errors.New("expired")
)

// A lives is a job slot whose results are texts, and what it has answered last.
type lives struct {
	*ask.JobSlot[string]

	issued  atomic.Uint64
	last    messages.ScanSlot
	answers []string // of jobs: "name=result" or "name=error"
	stops   int
}

func newLives() *lives {
	r := new(lives)
	r.JobSlot = r.slot()
	return r
}

// slot returns the job slot of one more instance of the actor.
func (r *lives) slot() *ask.JobSlot[string] {
	cfg := ask.JobSlotConfig{Issued: &r.issued, Busy: errBusy, Expired: errExpired}
	cfg.Stop = func() {
		r.stops++
		r.End("partial", nil)
	}
	return ask.NewJobSlot[string](cfg)
}

// reserve asks for a slot; waits says whether the caller still waits for the answer.
func (r *lives) reserve(waits bool) (err error) {
	r.Reserve(func(s messages.ScanSlot, failed error) bool {
		if err = failed; err == nil {
			r.last = s
		}
		return waits
	})
	return err
}

func (r *lives) begin(name string, id uint64) bool { return r.beginAs(name, id, false, true) }

// beginAs begins a job; keep says whether the job keeps its slot, waits whether the
// caller still waits for the answer.
func (r *lives) beginAs(name string, id uint64, keep, waits bool) bool {
	return r.Begin(id, keep, func(result string, err error) bool {
		if err != nil {
			result = err.Error()
		}
		r.answers = append(r.answers, name+"="+result)
		return waits
	}, "empty")
}

func isAborted(s messages.ScanSlot) bool {
	select {
	case <-s.Aborted:
		return true
	default:
		return false
	}
}

// to brings a new job slot into a state.
func (r *lives) to(state ask.JobState) {
	if state >= ask.JobReserved {
		_ = r.reserve(true)
	}
	if state == ask.JobRunning {
		r.begin("job", r.last.ID)
	}
	if state == ask.JobHeld {
		r.beginAs("job", r.last.ID, true, true)
		r.End("all", nil)
		r.answers = nil
	}
}

// report reports how far the holder of a slot is: of the last one, or of one after it.
func report(after uint64, progress int) func(r *lives) any {
	return func(r *lives) any {
		r.Report(r.last.ID+after, progress)
		percent, reported := r.Progress()
		if percent > 0 && !reported {
			return "not reported"
		}
		return percent
	}
}

// All that can be done, in every state.
func TestStates(t *testing.T) {
	const idle, reserved, running, held = ask.JobIdle, ask.JobReserved, ask.JobRunning, ask.JobHeld
	for _, test := range []struct {
		from ask.JobState
		name string
		do   func(r *lives) any
		want any // what is returned
		to   ask.JobState
		says string // the answers to jobs
	}{
		{idle, "report", report(0, 5), 0, idle, ""},
		{idle, "reserve", func(r *lives) any { return r.reserve(true) }, nil, reserved, ""},
		{idle, "reserve, gone", func(r *lives) any { return r.reserve(false) }, nil, idle, ""},
		{idle, "release", func(r *lives) any { return r.Release(r.last.ID) }, false, idle, ""},
		{idle, "begin", func(r *lives) any { return r.begin("b", r.last.ID) }, false, idle, "b=expired"},
		{idle, "abort", func(r *lives) any { return r.Abort() }, false, idle, ""},
		{idle, "end", func(r *lives) any { r.End("x", nil); return nil }, nil, idle, ""},

		{reserved, "reserve", func(r *lives) any { return r.reserve(true) }, errBusy, reserved, ""},
		{reserved, "report", report(0, 5), 5, reserved, ""},
		{reserved, "report too much", report(0, 500), 100, reserved, ""},
		{reserved, "report too little", report(0, -1), 0, reserved, ""},
		{reserved, "report of another", report(1, 5), 0, reserved, ""},
		{reserved, "release", func(r *lives) any { return r.Release(r.last.ID) }, true, idle, ""},
		{reserved, "release another", func(r *lives) any { return r.Release(r.last.ID + 1) }, false, reserved, ""},
		{reserved, "begin", func(r *lives) any { return r.begin("b", r.last.ID) }, true, running, ""},
		{
			reserved, "begin another", func(r *lives) any { return r.begin("b", r.last.ID+1) }, false, reserved,
			"b=expired",
		},
		{reserved, "abort", func(r *lives) any { return r.Abort() && isAborted(r.last) }, true, reserved, ""},
		{
			reserved, "abort twice", func(r *lives) any { first := r.Abort(); return first && r.Abort() }, true,
			reserved, "",
		},
		{reserved, "abort, reserve", func(r *lives) any { r.Abort(); return r.reserve(true) }, errBusy, reserved, ""},
		{
			reserved, "abort, begin",
			func(r *lives) any { r.Abort(); return r.begin("b", r.last.ID) }, false, idle, "b=empty",
		},
		{
			reserved, "abort, begin and keep",
			func(r *lives) any { r.Abort(); return r.beginAs("b", r.last.ID, true, true) }, false, held, "b=empty",
		},
		{reserved, "end", func(r *lives) any { r.End("x", nil); return nil }, nil, reserved, ""},

		{running, "reserve", func(r *lives) any { return r.reserve(true) }, errBusy, running, ""},
		{running, "report", report(0, 5), 0, running, ""},
		{running, "release", func(r *lives) any { return r.Release(r.last.ID) }, false, running, ""},
		{running, "release another", func(r *lives) any { return r.Release(r.last.ID + 1) }, false, running, ""},
		{running, "begin", func(r *lives) any { return r.begin("b", r.last.ID) }, false, running, "b=expired"},
		{running, "begin another", func(r *lives) any { return r.begin("b", r.last.ID+1) }, false, running, "b=expired"},
		{
			running, "abort", func(r *lives) any { return r.Abort() && isAborted(r.last) && r.stops == 1 }, true, idle,
			"job=partial",
		},
		{running, "end", func(r *lives) any { r.End("all", nil); return nil }, nil, idle, "job=all"},
		{running, "fail", func(r *lives) any { r.End("", errors.New("bad")); return nil }, nil, idle, "job=bad"},

		{held, "reserve", func(r *lives) any { return r.reserve(true) }, errBusy, held, ""},
		{held, "report", report(0, 5), 5, held, ""},
		{held, "release", func(r *lives) any { return r.Release(r.last.ID) }, true, idle, ""},
		{held, "release another", func(r *lives) any { return r.Release(r.last.ID + 1) }, false, held, ""},
		{held, "begin", func(r *lives) any { return r.begin("b", r.last.ID) }, true, running, ""},
		{held, "begin another", func(r *lives) any { return r.begin("b", r.last.ID+1) }, false, held, "b=expired"},
		{
			held, "begin, aborted",
			func(r *lives) any { r.Abort(); return r.beginAs("b", r.last.ID, true, true) }, false, held, "b=empty",
		},
		{held, "abort", func(r *lives) any { return r.Abort() && isAborted(r.last) && r.stops == 0 }, true, held, ""},
		{held, "end", func(r *lives) any { r.End("x", nil); return nil }, nil, held, ""},
	} {
		r := newLives()
		r.to(test.from)
		got := test.do(r)
		if err, is := got.(error); is && err == nil {
			got = nil
		}
		says := ""
		if len(r.answers) > 0 {
			says = r.answers[0]
		}
		if holds := test.to != idle; r.last.ID != 0 && (r.Holds(r.last.ID) != holds || r.Holds(r.last.ID+1)) {
			t.Errorf("%d, %s: holds its slot: %v", test.from, test.name, !holds)
		}
		if got != test.want || r.State() != test.to || says != test.says || len(r.answers) > 1 {
			t.Errorf("%d, %s: returned %v, is in state %d, answered %v", test.from, test.name, got, r.State(), r.answers)
		}
	}
}

// A job with keep holds its place after the answer only while its holder can give the
// place back. The place is free at once if the holder released it during the job, or did
// not wait for the answer.
func TestKeptForAHolderAlone(t *testing.T) {
	for name, end := range map[string]func(r *lives){
		"released": func(r *lives) {
			r.beginAs("b", r.last.ID, true, true)
			r.Release(r.last.ID)
			r.End("all", nil)
		},
		"gone":             func(r *lives) { r.beginAs("b", r.last.ID, true, false); r.End("all", nil) },
		"gone and aborted": func(r *lives) { r.Abort(); r.beginAs("b", r.last.ID, true, false) },
	} {
		r := newLives()
		r.to(ask.JobReserved)
		if end(r); r.State() != ask.JobIdle || len(r.answers) != 1 {
			t.Errorf("%s: state %d, answers %v", name, r.State(), r.answers)
		}
	}
}

// An oracle says what a job slot has to do: it keeps the fate of the slot that has the place.
type oracle struct {
	fate    string // reserved, running, kept (it runs), held; nothing for others
	aborted bool
	current uint64
}

// free is the oracle of a job slot whose place is free.
func (o *oracle) free() { *o = oracle{} }

// A job slot behaves as the oracle says through random histories, restarts of its actor included.
func TestLives(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		r, o := newLives(), oracle{}
		var all []messages.ScanSlot // issued: their holders may come back at any time
		for step := range 100 {
			where := fmt.Sprintf("seed %d, step %d", seed, step)
			pick := func() uint64 {
				if len(all) == 0 || rnd.IntN(10) == 0 {
					return 1 << 60
				}
				return all[max(0, len(all)-1-rnd.IntN(3))].ID
			}
			before := len(r.answers)
			answered := func(want string) {
				t.Helper()
				if len(r.answers) != before+1 || r.answers[before] != want {
					t.Fatalf("%s: answered %v, want %s", where, r.answers[before:], want)
				}
			}
			ended := func() {
				if o.fate == "kept" {
					o.fate = "held"
				} else {
					o.free()
				}
			}
			switch rnd.IntN(9) {
			case 0, 1:
				waits := rnd.IntN(5) > 0
				err := r.reserve(waits)
				if busy := o.fate != ""; busy != errors.Is(err, errBusy) {
					t.Fatalf("%s: reserve: %v", where, err)
				}
				if err != nil {
					break
				}
				if slices.ContainsFunc(all, func(s messages.ScanSlot) bool { return s.ID == r.last.ID }) {
					t.Fatalf("%s: slot %d is issued again", where, r.last.ID)
				}
				if all = append(all, r.last); waits {
					o = oracle{fate: "reserved", current: r.last.ID}
				}
			case 2:
				id := pick()
				freed := id == o.current && (o.fate == "reserved" || o.fate == "held")
				if got := r.Release(id); got != freed {
					t.Fatalf("%s: release of %d, which is %q: %v", where, id, o.fate, got)
				}
				if freed {
					o.free()
				} else if id == o.current && o.fate == "kept" {
					o.fate = "running"
				}
			case 3, 4:
				id, keep := pick(), rnd.IntN(2) == 0
				may := id == o.current && (o.fate == "reserved" || o.fate == "held")
				if began := r.beginAs("b", id, keep, true); began != (may && !o.aborted) {
					t.Fatalf("%s: slot %d, %q, began %v", where, id, o.fate, began)
				}
				if !may {
					answered("b=expired")
					break
				}
				if o.fate = "running"; keep {
					o.fate = "kept"
				}
				if o.aborted {
					answered("b=empty")
					ended()
				}
			case 5, 6:
				if got := r.Abort(); got != (o.fate != "") {
					t.Fatalf("%s: abort %v", where, got)
				}
				o.aborted = o.fate != ""
				if o.fate == "running" || o.fate == "kept" {
					answered("b=partial")
					ended()
				}
			case 7:
				r.End("all", nil)
				if o.fate == "running" || o.fate == "kept" {
					answered("b=all")
					ended()
				}
			case 8:
				if rnd.IntN(5) == 0 {
					r.JobSlot = r.slot()
					o.free()
				}
			}
			want := map[string]ask.JobState{
				"": ask.JobIdle, "reserved": ask.JobReserved, "running": ask.JobRunning, "kept": ask.JobRunning,
				"held": ask.JobHeld,
			}
			if r.State() != want[o.fate] {
				t.Fatalf("%s: state %d, want %q", where, r.State(), o.fate)
			}
			if o.fate != "" && isAborted(r.last) != o.aborted {
				t.Fatalf("%s: the holder of %q is told of an abort: %v", where, o.fate, isAborted(r.last))
			}
		}
	}
}
