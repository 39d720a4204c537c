package match

import "testing"

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
