package actortest

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// soakRounds is how many faults an actor has to overcome where there is time.
const soakRounds = 1000

// A Subject is an actor under the tests that all actors have to pass.
type Subject struct {
	*ask.Ref

	// Served is what it serves. It is asked a zero value of each kind that is not
	// among Requests, which are samples. Any may be refused, and may wait for what
	// never comes.
	Served   []ask.Served
	Requests []Request

	// News has what comes to it otherwise: announcements, messages of others. May be nil.
	News func()

	// Check tells whether it does its work, and has kept what it promised. It is
	// called after a restart, and after callers have left.
	Check func()
}

// A Request asks an actor one thing.
type Request struct {
	message any
	ask     func(context.Context, *ask.Ref) error
}

// Sample makes a Request.
func Sample[Q messages.Request[R], R any](q Q) Request {
	return Request{q, func(ctx context.Context, to *ask.Ref) error {
		_, err := ask.Ask(ctx, to, q)
		return err
	}}
}

// by asks to, and waits. A zero value is asked as a plain request of protoactor.
func (q Request) by(ctx context.Context, to *ask.Ref, r *run) error {
	if q.ask != nil {
		return q.ask(ctx, to)
	}
	c := r.request(q.message)
	defer r.root.Stop(c.pid)
	select {
	case <-c.answered:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	switch answer := c.first.(type) {
	case *actor.DeadLetterResponse:
		return ask.ErrStopped
	case error:
		return answer
	}
	return nil
}

// Suite runs the tests that every actor has to pass, each with an actor that start makes
// in a bubble of synctest. The actor panics over each kind of message that it handles,
// before and after handling; it stops under load; it is asked unknown requests; its
// callers leave. All requests are answered, exactly once, and the actor does its work
// again.
func Suite(t *testing.T, start func(t *testing.T) *Subject) {
	t.Helper()
	t.Run("Panic", func(t *testing.T) { panics(t, start) })
	for _, test := range []struct {
		name string
		run  func(*run)
	}{{"Stop", stops}, {"Unhandled", unhandled}, {"CallerGone", callersGone}} {
		t.Run(test.name, func(t *testing.T) { inBubble(t, start, new(faults), test.run) })
	}
}

// run is one Subject in its bubble.
type run struct {
	*Subject
	t       *testing.T
	root    *actor.RootContext
	rng     *rand.Rand
	callers sync.WaitGroup
	plain   []*collector

	mu        sync.Mutex
	restarted map[string]bool // kinds of requests that were answered with ErrRestarted
}

// answered notes an answer.
func (r *run) answered(message any, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if errors.Is(err, ask.ErrRestarted) {
		r.restarted[typeOf(message)] = true
	}
}

// isRequest reports whether messages of that type are requests of its samples.
func (r *run) isRequest(message string) bool {
	return slices.ContainsFunc(r.Requests, func(q Request) bool { return typeOf(q.message) == message })
}

func inBubble(t *testing.T, start func(*testing.T) *Subject, f *faults, test func(*run)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		underTest.Store(t, f)
		defer underTest.Delete(t)
		f.t = t
		s := start(t)
		synctest.Wait()
		f.started(s.PID().Id)
		for _, kind := range ask.Kinds(s.Served) {
			if !slices.ContainsFunc(s.Requests, func(q Request) bool { return reflect.TypeOf(q.message) == kind }) {
				s.Requests = append(s.Requests, Request{message: reflect.Zero(kind).Interface()})
			}
		}
		if len(s.Requests) == 0 {
			s.Requests = []Request{Sample(strange{})}
		}
		slices.SortFunc(s.Requests, func(a, b Request) int { return cmp.Compare(typeOf(a.message), typeOf(b.message)) })
		test(&run{Subject: s, t: t, root: f.root, rng: numbers(1), restarted: make(map[string]bool)})
	})
}

// perSubject is how many faults one Subject has to overcome, one after the other.
const perSubject = 6

// numbers are the same for the same seed.
func numbers(seed int64) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(seed), 0)) //nolint:gosec // nothing depends on them but the order of a test
}

// panics lets the actor fail in as many places as there are.
func panics(t *testing.T, start func(*testing.T) *Subject) {
	t.Helper()
	var calm faults
	inBubble(t, start, &calm, func(r *run) {
		r.work()
		calm.stopCounting()
		r.Check()
		r.stop()
	})
	var list []fault
	for _, p := range calm.placesBelow(nameOf(calm.subject)) {
		list = append(list, fault{place: p, count: 1}, fault{place: p, count: 1, after: true})
		if p.message != "step" {
			continue
		}
		for n := 2; n <= calm.seen[p]/2; n *= 2 { // jobs have the actor do many things by the same kind of message
			list = append(list, fault{place: p, count: n}, fault{place: p, count: n, after: true})
		}
	}
	late := inTurn(t, start, list, perSubject)
	for range 12 { // some come only when others are late, which seldom happens on an idle machine
		late = inTurn(t, start, late, 1)
	}
	for _, f := range late {
		t.Errorf("%v: the message did not come", f)
	}
	if os.Getenv("TRAWL_SOAK") == "" || t.Failed() {
		return
	}
	rng := numbers(time.Now().UnixNano())
	for range soakRounds / perSubject {
		var some []fault
		for range perSubject {
			f := list[rng.IntN(len(list))]
			some = append(some, fault{f.place, 1 + rng.IntN(max(1, min(calm.seen[f.place], 5))), rng.IntN(2) == 0})
		}
		inTurn(t, start, some, perSubject)
	}
}

// inTurn makes each of the faults, so many to a Subject, and returns those whose
// message did not come.
func inTurn(t *testing.T, start func(*testing.T) *Subject, list []fault, each int) (late []fault) {
	t.Helper()
	for some := range slices.Chunk(list, each) {
		// The first word of an actor comes while it starts.
		var f faults
		if opening := slices.IndexFunc(
			some, func(f fault) bool { return f.message == "*actor.Started" },
		); opening >= 0 {
			some[0], some[opening] = some[opening], some[0]
			f.arm(some[0])
		}
		t.Run(some[0].String(), func(t *testing.T) {
			inBubble(t, start, &f, func(r *run) {
				for _, next := range some {
					if next.message != "*actor.Started" {
						f.arm(next)
					}
					r.work()
					if !f.disarm() {
						late = append(late, next)
						continue
					}
					if !next.after && r.isRequest(next.message) && !r.restarted[next.message] {
						t.Error("its caller was not told that it failed")
					}
					r.Check()
					if t.Failed() {
						t.Logf("after the fault %v", next)
						break
					}
					time.Sleep(time.Minute) // of the bubble: the restarts are forgotten
				}
				r.stop()
			})
		})
	}
	return late
}

// mayFail reports whether a panic over such a message is a restart. The last words of
// an actor are not, see the guard of package ask.
func mayFail(message string) bool {
	switch message {
	case "*actor.Stopping", "*actor.Stopped", "*actor.Restarting", "*actor.PoisonPill", "actortest.strange":
		return false
	}
	return true
}

// work asks all there is to ask.
func (r *run) work() {
	r.t.Helper()
	r.mu.Lock()
	clear(r.restarted)
	r.mu.Unlock()
	for n, i := range r.rng.Perm(len(r.Requests)) {
		if n == len(r.Requests)/2 && r.News != nil {
			r.News()
		}
		r.begin(r.Requests[i])
	}
	time.Sleep(5 * time.Second) // of the bubble: what is due, comes
	synctest.Wait()
}

// begin asks twice: with Ask, and as a plain request of protoactor.
func (r *run) begin(q Request) {
	r.callers.Go(func() {
		err := q.by(context.Background(), r.Ref, r)
		r.answered(q.message, err)
		if _, unknown := q.message.(strange); errors.Is(err, ask.ErrUnhandled) != unknown && !restartedOrStopped(err) {
			r.t.Errorf("%T: %v", q.message, err)
		}
	})
	r.plain = append(r.plain, r.request(q.message))
}

func restartedOrStopped(err error) bool {
	return errors.Is(err, ask.ErrRestarted) || errors.Is(err, ask.ErrStopped)
}

// stop stops the actor and wants each request answered once.
func (r *run) stop() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := r.Stop(ctx); err != nil {
		r.t.Error(err)
	}
	r.callers.Wait()
	synctest.Wait()
	for _, c := range r.plain {
		if n := c.answers.Load(); n != 1 {
			r.t.Errorf("%T was answered %d times", c.message, n)
		}
		r.root.Stop(c.pid)
	}
	synctest.Wait()
	for _, q := range r.Requests {
		if err := q.by(context.Background(), r.Ref, r); !errors.Is(err, ask.ErrStopped) {
			r.t.Errorf("%T after the stop: %v", q.message, err)
		}
	}
}

// A collector is a caller that counts its answers.
type collector struct {
	message  any
	pid      *actor.PID
	answers  atomic.Int32
	first    any
	answered chan struct{} // closed when first is there
}

func (r *run) request(message any) *collector {
	c := &collector{message: message, answered: make(chan struct{})}
	c.pid = r.root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch m := ctx.Message().(type) {
		case actor.AutoReceiveMessage, actor.SystemMessage:
		default:
			if c.answers.Add(1) == 1 {
				c.first = m
				close(c.answered)
				err, _ := m.(error)
				r.answered(message, err)
			}
		}
	}))
	r.root.RequestWithCustomSender(r.PID(), message, c.pid)
	return c
}

// stops stops the actor while many ask.
func stops(r *run) {
	r.t.Helper()
	if r.News != nil {
		r.News()
	}
	var answered atomic.Int32
	busy := make(chan struct{})
	for caller := range 8 {
		rng := numbers(int64(caller))
		r.callers.Go(func() {
			for {
				err := r.Requests[rng.IntN(len(r.Requests))].by(context.Background(), r.Ref, r)
				if answered.Add(1) == 20 {
					close(busy)
				}
				if errors.Is(err, ask.ErrStopped) {
					return
				}
			}
		})
	}
	select {
	case <-busy:
	case <-time.After(time.Millisecond): // of the bubble, in which it passes when all wait
	}
	for _, q := range r.Requests {
		r.plain = append(r.plain, r.request(q.message))
	}
	r.stop()
	late := r.request(r.Requests[0].message)
	synctest.Wait()
	if n := late.answers.Load(); n != 1 {
		r.t.Errorf("a request after the stop was answered %d times", n)
	}
	r.root.Stop(late.pid)
}
