package slot_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/seed61375155/trawl/internal/slot"
	"github.com/seed61375155/trawl/messages"
)

var (
	errBusy    = errors.New("busy")
	errExpired = errors.New("expired")
)

// A rig is a desk whose results are texts, and what it has answered last.
type rig struct {
	*slot.Desk[string]

	issued  atomic.Uint64
	last    messages.ScanSlot
	answers []string // of jobs: "name=result" or "name=error"
	stops   int
}

func newRig() *rig {
	r := new(rig)
	r.Desk = r.desk()
	return r
}

// desk returns the desk of one more instance of the actor.
func (r *rig) desk() *slot.Desk[string] {
	return slot.New[string](slot.Config{Issued: &r.issued, Busy: errBusy, Expired: errExpired, Stop: func() {
		r.stops++
		r.End("partial", nil)
	}})
}

// reserve wants a slot, for a caller who waits for it or has gone.
func (r *rig) reserve(waits bool) (err error) {
	r.Reserve(func(s messages.ScanSlot, failed error) bool {
		if err = failed; err == nil {
			r.last = s
		}
		return waits
	})
	return err
}

func (r *rig) begin(name string, id uint64) bool {
	return r.Begin(id, func(result string, err error) bool {
		if err != nil {
			result = err.Error()
		}
		r.answers = append(r.answers, name+"="+result)
		return true
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

// to brings a new desk into a state.
func (r *rig) to(state slot.State) {
	if state >= slot.Reserved {
		_ = r.reserve(true)
	}
	if state == slot.Running {
		r.begin("job", r.last.ID)
	}
}

// All that can be done, in every state.
func TestStates(t *testing.T) {
	const idle, reserved, running = slot.Idle, slot.Reserved, slot.Running
	for _, test := range []struct {
		from slot.State
		name string
		do   func(r *rig) any
		want any // what is returned
		to   slot.State
		says string // the answers to jobs
	}{
		{idle, "reserve", func(r *rig) any { return r.reserve(true) }, nil, reserved, ""},
		{idle, "reserve, gone", func(r *rig) any { return r.reserve(false) }, nil, idle, ""},
		{idle, "release", func(r *rig) any { r.Release(r.last.ID); return nil }, nil, idle, ""},
		{idle, "begin", func(r *rig) any { return r.begin("b", r.last.ID) }, false, idle, "b=expired"},
		{idle, "abort", func(r *rig) any { return r.Abort() }, false, idle, ""},
		{idle, "end", func(r *rig) any { r.End("x", nil); return nil }, nil, idle, ""},

		{reserved, "reserve", func(r *rig) any { return r.reserve(true) }, errBusy, reserved, ""},
		{reserved, "release", func(r *rig) any { r.Release(r.last.ID); return nil }, nil, idle, ""},
		{reserved, "release another", func(r *rig) any { r.Release(r.last.ID + 1); return nil }, nil, reserved, ""},
		{reserved, "begin", func(r *rig) any { return r.begin("b", r.last.ID) }, true, running, ""},
		{
			reserved, "begin another", func(r *rig) any { return r.begin("b", r.last.ID+1) }, false, reserved,
			"b=expired",
		},
		{reserved, "abort", func(r *rig) any { return r.Abort() && isAborted(r.last) }, true, idle, ""},
		{reserved, "end", func(r *rig) any { r.End("x", nil); return nil }, nil, reserved, ""},

		{running, "reserve", func(r *rig) any { return r.reserve(true) }, errBusy, running, ""},
		{running, "release", func(r *rig) any { r.Release(r.last.ID); return nil }, nil, running, ""},
		{running, "release another", func(r *rig) any { r.Release(r.last.ID + 1); return nil }, nil, running, ""},
		{running, "begin", func(r *rig) any { return r.begin("b", r.last.ID) }, false, running, "b=expired"},
		{running, "begin another", func(r *rig) any { return r.begin("b", r.last.ID+1) }, false, running, "b=expired"},
		{
			running, "abort", func(r *rig) any { return r.Abort() && !isAborted(r.last) && r.stops == 1 }, true, idle,
			"job=partial",
		},
		{running, "end", func(r *rig) any { r.End("all", nil); return nil }, nil, idle, "job=all"},
		{running, "fail", func(r *rig) any { r.End("", errors.New("bad")); return nil }, nil, idle, "job=bad"},
	} {
		r := newRig()
		r.to(test.from)
		got := test.do(r)
		if err, is := got.(error); is && err == nil {
			got = nil
		}
		says := ""
		if len(r.answers) > 0 {
			says = r.answers[0]
		}
		if got != test.want || r.State() != test.to || says != test.says || len(r.answers) > 1 {
			t.Errorf("%d, %s: returned %v, is in state %d, answered %v", test.from, test.name, got, r.State(), r.answers)
		}
	}
}

// An oracle says what a desk has to do: it keeps the fate of every slot.
type oracle struct {
	fate    map[uint64]string // reserved, running, aborted; nothing for others
	current uint64            // reserved or running
}

// Random lives of a desk, restarts of its actor included, are those of the oracle.
func TestLives(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		r, o := newRig(), oracle{fate: map[uint64]string{}}
		var held []messages.ScanSlot // by those who may come back with them
		seen := map[uint64]bool{}
		for step := range 100 {
			where := fmt.Sprintf("seed %d, step %d", seed, step)
			pick := func() uint64 {
				if len(held) == 0 || rnd.IntN(10) == 0 {
					return 1 << 60
				}
				return held[rnd.IntN(len(held))].ID
			}
			before := len(r.answers)
			answered := func(want string) {
				t.Helper()
				if len(r.answers) != before+1 || r.answers[before] != want {
					t.Fatalf("%s: answered %v, want %s", where, r.answers[before:], want)
				}
			}
			switch rnd.IntN(9) {
			case 0, 1:
				waits := rnd.IntN(5) > 0
				err := r.reserve(waits)
				if busy := o.current != 0; busy != errors.Is(err, errBusy) {
					t.Fatalf("%s: reserve: %v", where, err)
				}
				if err != nil {
					break
				}
				if seen[r.last.ID] {
					t.Fatalf("%s: slot %d is issued again", where, r.last.ID)
				}
				seen[r.last.ID] = true
				if waits {
					held = append(held, r.last)
					o.current, o.fate[r.last.ID] = r.last.ID, "reserved"
				}
			case 2:
				id := pick()
				r.Release(id)
				if o.fate[id] != "running" {
					if delete(o.fate, id); id == o.current {
						o.current = 0
					}
				}
			case 3, 4:
				id := pick()
				began := r.begin("b", id)
				if began != (o.fate[id] == "reserved") {
					t.Fatalf("%s: slot %d, %q, began %v", where, id, o.fate[id], began)
				}
				switch o.fate[id] {
				case "reserved":
					o.fate[id] = "running"
				case "aborted":
					answered("b=empty")
					delete(o.fate, id)
				default:
					answered("b=expired")
				}
			case 5, 6:
				if got := r.Abort(); got != (o.current != 0) {
					t.Fatalf("%s: abort %v", where, got)
				}
				switch o.fate[o.current] {
				case "reserved":
					o.fate[o.current] = "aborted"
				case "running":
					answered("b=partial")
					delete(o.fate, o.current)
				}
				o.current = 0
			case 7:
				r.End("all", nil)
				if o.fate[o.current] == "running" {
					answered("b=all")
					delete(o.fate, o.current)
					o.current = 0
				}
			case 8:
				if rnd.IntN(5) == 0 {
					r.Desk = r.desk()
					o = oracle{fate: map[uint64]string{}}
				}
			}
			want := map[string]slot.State{"": slot.Idle, "reserved": slot.Reserved, "running": slot.Running}
			if r.State() != want[o.fate[o.current]] {
				t.Fatalf("%s: state %d, want %q", where, r.State(), o.fate[o.current])
			}
		}
		for _, s := range held {
			if isAborted(s) != (o.fate[s.ID] == "aborted") && o.fate[s.ID] != "" {
				t.Errorf("seed %d: the holder of slot %d, %q: aborted %v", seed, s.ID, o.fate[s.ID], isAborted(s))
			}
		}
	}
}
