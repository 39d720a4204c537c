package match

import (
	"context"
	"math"
	"testing"
	"time"
)

// A worker whose turn comes while it leaves the queue has it.
func TestLeaveWithATurn(t *testing.T) {
	s := &turns{}
	waits := newTurn(s, &share{})
	s.waiting = append(s.waiting, waits)
	s.queued.Add(1)
	s.handOn()
	if s.leave(waits) || len(waits.granted) != 0 || s.queued.Load() != 0 || waits.share.held != 1 {
		t.Errorf("left without the turn that it was given: %+v", waits)
	}
	other := newTurn(s, &share{})
	s.waiting = append(s.waiting, waits, other)
	s.queued.Add(2)
	if !s.leave(other) || len(s.waiting) != 1 || s.waiting[0] != waits || s.queued.Load() != 1 {
		t.Errorf("waiting are %d", len(s.waiting))
	}
}

// The next turn is one of the run that has the fewest, and of those that have as many
// the longest waiting one's.
func TestPoorest(t *testing.T) {
	s := &turns{}
	if got := s.poorest(); got != -1 {
		t.Errorf("of nobody %d", got)
	}
	for _, test := range []struct {
		held []int // by the runs of those that wait
		want int
	}{{[]int{1}, 0}, {[]int{1, 0}, 1}, {[]int{0, 1}, 0}, {[]int{2, 1, 1}, 1}, {[]int{2, 1, 0, 0}, 2}} {
		s.waiting = nil
		for _, held := range test.held {
			s.waiting = append(s.waiting, newTurn(s, &share{held}))
		}
		if got := s.poorest(); got != test.want {
			t.Errorf("%v: %d, want %d", test.held, got, test.want)
		}
		for _, held := range []int{0, 1, 2} {
			has := newTurn(s, &share{held})
			has.held = true
			waiting := len(s.waiting)
			if swapped := has.swap(); swapped != (held > test.held[test.want]) || swapped == has.held ||
				swapped != (len(s.waiting) < waiting) {
				t.Errorf("%v: with %d swapped is %v", test.held, held, swapped)
			} else if swapped {
				break
			}
		}
	}
}

// A worker without a turn hands none on, and a worker with a turn keeps it where
// nobody waits.
func TestSwapWithoutATurn(t *testing.T) {
	s := &turns{}
	waits, other := newTurn(s, &share{}), newTurn(s, &share{held: 2})
	other.held = true
	if other.swap() || !other.held || s.free != 0 {
		t.Errorf("swapped with nobody: %+v", other)
	}
	other.held = false
	s.waiting = append(s.waiting, waits)
	s.queued.Add(1)
	if other.swap() || len(s.waiting) != 1 || waits.share.held != 0 || other.share.held != 2 {
		t.Errorf("handed a turn on that it had not: %+v", other)
	}
}

// A turn is given back once, whatever becomes of what its worker waits for.
func TestPanicWithoutATurn(t *testing.T) {
	s := &turns{free: 1}
	one := newTurn(s, &share{})
	func() {
		defer func() {
			if recover() != "boom" {
				t.Error("no panic")
			}
		}()
		one.take(context.Background())
		defer one.give()
		one.without(context.Background(), func() { panic("boom") })
	}()
	if s.free != 1 || one.share.held != 0 {
		t.Errorf("%d turns are free, %d of the run's are held", s.free, one.share.held)
	}
}

// A worker takes as many filters at a time as it matches in a millisecond, but soon
// after the first ones not many more.
func TestNextSize(t *testing.T) {
	for _, test := range []struct {
		n       int32
		elapsed time.Duration
		want    int32
	}{
		{16, time.Millisecond, 16},
		{16, 2 * time.Millisecond, 8},
		{16, 500 * time.Microsecond, 32},
		{16, 250 * time.Microsecond, 64},
		{16, 240 * time.Microsecond, 64},
		{16, 0, 64},
		{64, 0, maxUnit},
		{65, 0, maxUnit},
		{maxUnit, 0, maxUnit},
		{200, 999 * time.Microsecond, 200},
		{3, 3 * time.Millisecond, 1},
		{3, 4 * time.Millisecond, 1},
		{1, time.Hour, 1},
		{1, math.MaxInt64, 1},
	} {
		if got := nextSize(test.n, test.elapsed); got != test.want {
			t.Errorf("%d in %v: %d, want %d", test.n, test.elapsed, got, test.want)
		}
	}
}
