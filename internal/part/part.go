// Package part starts the components of a program in the order of a table, watches them, and
// stops them in reverse. It knows neither what a component does nor what it is made of.
//
// A component uses components above it in the table, and its row names them: it does not get a
// component that the row does not name. A component that is off is there for all others, and
// answers [ask.ErrAbsent].
package part

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// StopTime is how long the actor of one component may take to stop.
const StopTime = 5 * time.Minute

// A Part is a component: one row of a table.
type Part struct {
	Name  string
	Needs []string // rows above: whom it asks
	Later []string // rows below that its workers ask, never the component itself
	Off   bool     // it is not started

	// Start starts it. After an error nothing of it is left running. ctx ends the
	// start, not the component.
	Start func(ctx context.Context, u *Uses) (Running, error)
}

// Running is a component that was started. Each field may be missing.
type Running struct {
	Ref   *ask.Ref     // its actor, which is stopped first
	Close func() error // gives back what only this component had: its store, its threads
}

// Stop stops the actor and gives back what only the component had. The actor has [StopTime],
// which ctx may cut short.
func (r Running) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, StopTime)
	defer cancel()
	err := r.Ref.Stop(ctx)
	if r.Close != nil {
		err = errors.Join(err, r.Close())
	}
	return err
}

// Ready waits until an actor that was just started has done what q asks for. Where it
// has not, it is stopped.
func Ready[Q messages.Request[R], R any](ctx context.Context, r Running, q Q) (Running, error) {
	_, err := ask.Ask(ctx, r.Ref, q)
	if err == nil {
		return r, nil
	}
	return Running{}, errors.Join(err, r.Stop(context.WithoutCancel(ctx)))
}

// Uses is how a component that is being started gets the components that its row names.
type Uses struct {
	of  *Part
	set *Set
}

// Ref returns the actor of a component that this one needs, absent where that is off. It
// panics where the row does not name it.
func (u *Uses) Ref(name string) *ask.Ref {
	u.take(name, u.of.Needs, "")
	return u.set.Ref(name)
}

// LaterRef returns what gives the actor of a component below, which is absent until it has
// started.
func (u *Uses) LaterRef(name string) func() *ask.Ref {
	u.take(name, u.of.Later, " later")
	return func() *ask.Ref { return u.set.Ref(name) }
}

func (u *Uses) take(name string, named []string, when string) {
	if !slices.Contains(named, name) {
		panic(fmt.Sprintf("part %s uses %s%s, which its row does not say", u.of.Name, name, when))
	}
	u.set.taken[u.of.Name+" "+name] = true
}

// Fail ends the program because of the component, with err as the cause unless there was one
// before.
func (u *Uses) Fail(err error) { u.set.fail(err) }

// Unsaved notes what the component could not write when it stopped. [Set.Close] returns it.
func (u *Uses) Unsaved(err error) {
	u.set.mu.Lock()
	defer u.set.mu.Unlock()
	u.set.unsaved = append(u.set.unsaved, err)
}

// A Set is the components of a running program. Its methods are safe for concurrent use.
type Set struct {
	refs  refs
	taken map[string]bool // "part other": what a component took, until Open returns

	failed context.Context //nolint:containedctx // ends, with the cause, when a component has failed
	fail   context.CancelCauseFunc

	mu      sync.Mutex
	running []started
	unsaved []error
}

type started struct {
	name string
	Running
}

// Open starts the components that are not off. After an error nothing is left running; the
// error is the cause, where a component gave one by Fail.
func Open(ctx context.Context, table []Part) (*Set, error) {
	if err := Check(table); err != nil {
		return nil, err
	}
	s := &Set{refs: newRefs(table), taken: make(map[string]bool)}
	s.failed, s.fail = context.WithCancelCause(context.WithoutCancel(ctx))
	for i := range table {
		if table[i].Off {
			continue
		}
		if err := s.start(ctx, &table[i]); err != nil {
			if cause := context.Cause(s.failed); cause != nil { //nolint:contextcheck // not ctx: the program's own
				err = cause
			}
			return nil, errors.Join(err, s.Close(context.WithoutCancel(ctx)))
		}
	}
	return s, nil
}

func (s *Set) start(ctx context.Context, p *Part) error {
	r, err := p.Start(ctx, &Uses{p, s})
	if err != nil {
		return err
	}
	s.running = append(s.running, started{p.Name, r})
	if !r.Ref.IsAbsent() {
		s.refs.set(p.Name, r.Ref)
		go s.watch(r.Ref)
	}
	return nil
}

// watch fails the program when an actor ends that nobody has stopped.
func (s *Set) watch(ref *ask.Ref) {
	select {
	case <-ref.Done():
		s.fail(fmt.Errorf("%s stopped", ref.Name()))
	case <-s.failed.Done():
	}
}

// Ref returns the actor of a component, absent where that has none, is off, or has not
// started yet; never nil.
func (s *Set) Ref(name string) *ask.Ref { return s.refs.get(name) }

// Stats returns the numbers of the actors of all components that have one, in the order of the
// table.
func (s *Set) Stats() []messages.PartStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []messages.PartStats
	for _, r := range s.running {
		if !r.Ref.IsAbsent() {
			list = append(list, messages.PartStats{Part: r.name, ActorStats: r.Ref.Stats()})
		}
	}
	return list
}

// Wait returns nil when ctx ends, and the cause when a component has failed.
func (s *Set) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-s.failed.Done():
		return context.Cause(s.failed) //nolint:contextcheck // as above
	}
}

// Ended is closed when a component has failed, or Close was called.
func (s *Set) Ended() <-chan struct{} { return s.failed.Done() }

// Err is nil until a component has failed or Close was called; then it wraps [ErrClosed], and
// the cause.
func (s *Set) Err() error {
	switch cause := context.Cause(s.failed); {
	case cause == nil || errors.Is(cause, ErrClosed):
		return cause
	default:
		return fmt.Errorf("%w: %w", ErrClosed, cause)
	}
}

// ErrClosed is what [Set.Wait] returns after Close.
var ErrClosed = errors.New("closed")

// Close stops the components one by one, last started first, so that each finishes while
// those it depends on still answer: its actor, then what it had. Each has its own time
// to stop, which ctx may cut short. A second call does nothing.
func (s *Set) Close(ctx context.Context) error {
	s.fail(ErrClosed) // nobody is watched any more
	s.mu.Lock()
	running := s.running
	s.running = nil
	s.mu.Unlock()
	var errs []error
	for _, r := range slices.Backward(running) {
		if err := r.Stop(ctx); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", r.name, err))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(append(errs, s.unsaved...)...)
}

// Untaken returns the uses that rows of started components name and that these have not
// asked for, each as "part other": a table that promises more than is true.
func (s *Set) Untaken(table []Part) []string {
	var list []string
	for i := range table {
		p := &table[i]
		if p.Off {
			continue
		}
		for _, name := range slices.Concat(p.Needs, p.Later) {
			if use := p.Name + " " + name; !s.taken[use] {
				list = append(list, use)
			}
		}
	}
	return list
}

// Check returns an error for a wrong table: two components of the same name, a need that
// is not above its component, or a later component that is not below.
func Check(table []Part) error {
	at := make(map[string]int, len(table))
	for i := range table {
		name := table[i].Name
		if _, duplicate := at[name]; duplicate {
			return fmt.Errorf("two parts are called %s", name)
		}
		at[name] = i
	}
	for i := range table {
		p := &table[i]
		for _, name := range p.Needs {
			if j, ok := at[name]; !ok || j >= i {
				return fmt.Errorf("part %s needs %s, which is not above it", p.Name, name)
			}
		}
		for _, name := range p.Later {
			if j, ok := at[name]; !ok || j <= i {
				return fmt.Errorf("part %s uses %s later, which is not below it", p.Name, name)
			}
		}
	}
	return nil
}

// Text returns the rows of a Markdown table: name, needs, later.
func Text(table []Part) string {
	var b strings.Builder
	for i := range table {
		p := &table[i]
		fmt.Fprintf(&b, "| %s | %s | %s |\n", p.Name, strings.Join(p.Needs, ", "), strings.Join(p.Later, ", "))
	}
	return b.String()
}
