package match

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// turns are the cores that passes share. A worker matches only while it has a turn,
// and yields it every millisecond where another run has fewer.
type turns struct {
	queued atomic.Int32 // workers that wait; written with mu held

	mu      sync.Mutex
	free    int     // nobody waits where it is not 0
	waiting []*turn // the longest first
}

// share is how many turns the workers of one run have, of all that turns counts.
type share struct{ held int } // with turns.mu held

// turn is the place of one worker, used by its goroutine.
type turn struct {
	turns   *turns
	share   *share
	held    bool
	granted chan struct{} // one token, when it was this one's turn
}

func newTurn(t *turns, s *share) *turn {
	return &turn{turns: t, share: s, granted: make(chan struct{}, 1)}
}

// take waits for a turn. When ctx ends first there is none, and the worker, which
// finds out by itself, ends without.
func (t *turn) take(ctx context.Context) {
	s := t.turns
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		t.share.held++
		t.held = true
		s.mu.Unlock()
		return
	}
	s.waiting = append(s.waiting, t)
	s.queued.Add(1)
	s.mu.Unlock()
	select {
	case <-t.granted:
		t.held = true
	case <-ctx.Done():
		t.held = !s.leave(t)
	}
}

// leave takes a worker out of the queue; false when its turn has come meanwhile.
func (s *turns) leave(t *turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.Index(s.waiting, t)
	if i < 0 {
		<-t.granted
		return false
	}
	s.remove(i)
	return true
}

// remove is called with mu held.
func (s *turns) remove(i int) {
	s.waiting = slices.Delete(s.waiting, i, i+1)
	s.queued.Add(-1)
}

// give gives the turn back, if there is one.
func (t *turn) give() {
	if !t.held {
		return
	}
	t.held = false
	s := t.turns
	s.mu.Lock()
	defer s.mu.Unlock()
	t.share.held--
	s.handOn()
}

// handOn gives a free turn to the run that holds the fewest turns, and there to
// the worker that has waited longest. The turn stays free if nobody waits. It is
// called with mu held.
func (s *turns) handOn() {
	i := s.poorest()
	if i < 0 {
		s.free++
		return
	}
	next := s.waiting[i]
	s.remove(i)
	next.share.held++
	next.granted <- struct{}{}
}

// poorest returns which of the waiting workers is next, -1 where nobody waits. It is
// called with mu held.
func (s *turns) poorest() int {
	best := -1
	for i, t := range s.waiting {
		if best < 0 || t.share.held < s.waiting[best].share.held {
			best = i
		}
	}
	return best
}

// yield lets others run: workers of another run with fewer turns instead of this one,
// and whatever else Go has to do.
func (t *turn) yield(ctx context.Context) {
	if t == nil || t.turns.queued.Load() == 0 || !t.swap() {
		runtime.Gosched()
		return
	}
	t.take(ctx)
}

// swap gives the turn to a run that has fewer, if there is one.
func (t *turn) swap() bool {
	s := t.turns
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.poorest(); !t.held || i < 0 || s.waiting[i].share.held >= t.share.held {
		return false
	}
	t.held = false
	t.share.held--
	s.handOn()
	return true
}

// without calls wait, which computes nothing, while others have the turn.
func (t *turn) without(ctx context.Context, wait func()) {
	t.give()
	wait()
	t.take(ctx)
}

type turnKey struct{}

func withTurn(ctx context.Context, t *turn) context.Context {
	return context.WithValue(ctx, turnKey{}, t)
}

func turnOf(ctx context.Context) *turn {
	t, _ := ctx.Value(turnKey{}).(*turn)
	return t
}

// Outside calls wait, which computes nothing for a while, say because it waits for the
// network, and lets other passes have the core meanwhile. It is for [Config.Keep], with
// the context that it is given.
func Outside(ctx context.Context, wait func()) {
	if t := turnOf(ctx); t != nil {
		t.without(ctx, wait)
		return
	}
	wait()
}
