// Package ask puts typed request and reply on top of protoactor.
//
// protoactor's own futures carry any, know no context.Context, and wake one
// waiter only. They leave a caller to its timeout when the actor panics, or
// stops with the request still queued. [Ask] closes these gaps. It promises
// that every Ask returns: with the answer, with the caller's context error, or
// with [ErrStopped], [ErrRestarted], [ErrUnhandled] or [ErrAbsent]. A plain
// protoactor request with the same message gets the same promise, see [Serve].
package ask

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/messages"
)

var (
	// ErrStopped reports that the actor stopped before it answered.
	ErrStopped = errors.New("actor stopped")

	// ErrRestarted reports that the actor failed while it held the call.
	ErrRestarted = errors.New("actor failed and was restarted")

	// ErrUnhandled reports that the actor does not serve this request.
	ErrUnhandled = errors.New("request not handled by this actor")

	// ErrAbsent reports that the program runs without this actor.
	ErrAbsent = errors.New("the node runs without it")
)

// A Call is one request inside an actor's mailbox. Its holder owes exactly one
// Answer, now or after later messages.
type Call[Q messages.Request[R], R any] struct {
	Ctx context.Context //nolint:containedctx // travels with the request, as in http.Request
	Req Q

	deliver func(R, error)
	ended   atomic.Bool // there was an answer, or the caller has gone
	ref     *Ref
}

type result[R any] struct {
	val R
	err error
}

// Answer ends the call. It reports whether the caller receives this answer:
// false when there was one before, or when the caller has gone.
func (c *Call[Q, R]) Answer(val R, err error) bool {
	if !c.end() {
		return false
	}
	c.deliver(val, err)
	c.ref.forget(c)
	return true
}

// IgnoreDeadLetterLogging keeps requests, which may carry secrets, out of
// protoactor's log.
func (*Call[Q, R]) IgnoreDeadLetterLogging() {}

// LogValue implements slog.LogValuer for the same reason.
func (c *Call[Q, R]) LogValue() slog.Value { return slog.StringValue(fmt.Sprintf("%T", c.Req)) }

func (c *Call[Q, R]) end() bool      { return c.ended.CompareAndSwap(false, true) }
func (c *Call[Q, R]) done() bool     { return c.ended.Load() }
func (c *Call[Q, R]) fail(err error) { var zero R; c.Answer(zero, err) }

// left returns why the caller has gone, nil while it waits.
func (c *Call[Q, R]) left() error { return context.Cause(c.Ctx) }

// call is what the guard sees of a Call, whatever its types.
type call interface {
	fail(error)
	done() bool
	left() error
}

// A Ref is how the rest of the program addresses one actor. The zero value and nil
// are absent, see [Absent].
type Ref struct {
	name  string
	root  *actor.RootContext // nil: absent
	pid   *actor.PID
	slots chan struct{} // one token per call that a caller waits for
	done  chan struct{} // closed once the actor has stopped for good
	serve map[reflect.Type]func(*Ref, any, *actor.PID) call

	counts counts
	meter  atomic.Pointer[Meter] // that counts it together with others; nil: none

	mu       sync.Mutex
	pending  map[call]struct{}                   // delivered, not answered
	queued   map[*actor.MessageEnvelope]struct{} // plain requests, posted and not delivered
	stopping bool                                // Stopping was seen: nothing is served any more
	stopped  bool                                // all calls have got ErrStopped
}

// Absent returns the Ref of an actor that the program runs without: a request to it is
// answered with [ErrAbsent] at once, and a message to it is dropped. So a caller need not
// know which actors run.
func Absent(name string) *Ref { return &Ref{name: name} }

// IsAbsent reports whether there is no actor behind r.
func (r *Ref) IsAbsent() bool { return r == nil || r.root == nil }

// Served is one kind of request in an actor's list, made by [Serve].
type Served func(map[reflect.Type]func(*Ref, any, *actor.PID) call)

// Serve lists Q among the requests that a plain protoactor RequestFuture may
// carry to the actor. The reply is an R, or an error.
func Serve[Q messages.Request[R], R any]() Served {
	return func(m map[reflect.Type]func(*Ref, any, *actor.PID) call) {
		m[reflect.TypeFor[Q]()] = func(r *Ref, q any, from *actor.PID) call {
			return &Call[Q, R]{Ctx: context.Background(), Req: q.(Q), ref: r, deliver: func(val R, err error) {
				if err != nil {
					r.root.Send(from, err)
				} else {
					r.root.Send(from, val)
				}
			}}
		}
	}
}

// Kinds returns the types of the requests in served.
func Kinds(served []Served) []reflect.Type {
	m := make(map[reflect.Type]func(*Ref, any, *actor.PID) call)
	for _, s := range served {
		s(m)
	}
	return slices.Collect(maps.Keys(m))
}

// Spawner starts actors: the root context, or an actor's own for its children.
type Spawner interface {
	SpawnNamed(props *actor.Props, name string) (*actor.PID, error)
	ActorSystem() *actor.ActorSystem
}

// Spawn starts an actor under name and returns its Ref. At most limit calls
// wait for an answer at a time; further callers wait in Ask, holding their own
// context, so the mailbox stays bounded.
func Spawn(in Spawner, log *slog.Logger, name string, limit int,
	producer actor.Producer, served []Served, opts ...actor.PropsOption,
) (*Ref, error) {
	r := &Ref{
		name:    name,
		root:    in.ActorSystem().Root,
		slots:   make(chan struct{}, limit),
		done:    make(chan struct{}),
		serve:   make(map[reflect.Type]func(*Ref, any, *actor.PID) call),
		pending: make(map[call]struct{}),
		queued:  make(map[*actor.MessageEnvelope]struct{}),
		counts:  counts{began: time.Now()},
	}
	for _, s := range served {
		s(r.serve)
	}
	opts = append([]actor.PropsOption{
		actor.WithReceiverMiddleware(r.guard(log)),
		actor.WithMailbox(r.counts.watched(actor.Unbounded(mailboxHook{r}))),
	}, opts...)
	pid, err := in.SpawnNamed(actor.PropsFromProducer(func() actor.Actor { return acting{producer()} }, opts...), name)
	if err != nil {
		return nil, fmt.Errorf("spawn %s: %w", name, err)
	}
	r.pid = pid
	return r, nil
}

// Ask sends q and waits for its answer. Only a [messages.Control] takes no slot.
func Ask[Q messages.Request[R], R any](ctx context.Context, to *Ref, q Q) (R, error) {
	if _, control := any(q).(interface{ AtAnyLoad() }); control || to.IsAbsent() {
		return send(ctx, to, q)
	}
	if err := to.enter(ctx); err != nil {
		var zero R
		return zero, err
	}
	defer func() { <-to.slots }()
	return send(ctx, to, q)
}

// enter waits for a slot.
func (r *Ref) enter(ctx context.Context) error {
	select {
	case r.slots <- struct{}{}:
		return nil
	default:
	}
	r.counts.waiting.Add(1)
	defer r.counts.waiting.Add(-1)
	select {
	case r.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("ask %s: %w", r.name, context.Cause(ctx))
	case <-r.done:
		return fmt.Errorf("ask %s: %w", r.name, ErrStopped)
	}
}

// Wait is Ask for a request that waits and changes nothing: it takes no slot, and where the actor fails
// meanwhile, its next instance is asked.
func Wait[Q messages.Request[R], R any](ctx context.Context, to *Ref, q Q) (R, error) {
	for {
		if got, err := send(ctx, to, q); !errors.Is(err, ErrRestarted) {
			return got, err
		}
	}
}

func send[Q messages.Request[R], R any](ctx context.Context, to *Ref, q Q) (R, error) {
	if to.IsAbsent() {
		var zero R
		return zero, fmt.Errorf("ask %s: %w", to.Name(), ErrAbsent)
	}
	slot := make(chan result[R], 1)
	c := &Call[Q, R]{Ctx: ctx, Req: q, ref: to, deliver: func(val R, err error) { slot <- result[R]{val, err} }}
	to.root.Send(to.pid, c)
	var err error
	select {
	case res := <-slot:
		return res.val, res.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-to.done:
		err = ErrStopped
	}
	if !c.end() { // the answer came in the same moment: it counts
		res := <-slot
		return res.val, res.err
	}
	to.forget(c)
	var zero R
	return zero, fmt.Errorf("ask %s: %w", to.name, err)
}

// Then asks on behalf of the actor in c, which must not wait: what wrap makes of
// the answer arrives as a message in the actor's own mailbox. It takes none of
// to's slots: the asking actor's own calls bound it, and two actors that ask
// each other cannot starve each other. Cancel ctx when the actor stops caring.
//
// The answer belongs to the instance of the actor that has asked. After a restart it
// does not arrive, and is released if it has a method Release.
func Then[Q messages.Request[R], R any](ctx context.Context, c actor.Context, to *Ref, q Q, wrap func(R, error) any) {
	self, root, by := c.Self(), c.ActorSystem().Root, instanceOf(c)
	go func() {
		got, err := send(ctx, to, q)
		root.Send(self, wrapped{
			make: func() any { return wrap(got, err) },
			by:   by,
			drop: func() { release(got, err) },
		})
	}()
}

// wrapped runs wrap inside the actor, where a panic is a panic of the actor.
type wrapped struct {
	make func() any
	by   *instance // that it is for; nil: for any
	drop func()    // called in place of make where it is not wanted; nil: there is nothing to do
}

// unwanted ends a message that no instance gets.
func (w *wrapped) unwanted() {
	if w.drop != nil {
		w.drop()
	}
}

func release(answer any, err error) {
	if r, ok := answer.(interface{ Release() }); ok && err == nil {
		r.Release()
	}
}

// Name returns the name the actor was spawned under.
func (r *Ref) Name() string {
	if r == nil {
		return "actor"
	}
	return r.name
}

// PID returns the actor's address for protoactor's own calls, nil when it is absent.
func (r *Ref) PID() *actor.PID {
	if r.IsAbsent() {
		return nil
	}
	return r.pid
}

// Done is closed once the actor has stopped for good. It is nil when it is absent.
func (r *Ref) Done() <-chan struct{} {
	if r.IsAbsent() {
		return nil
	}
	return r.done
}

// Tell sends a message that has no answer.
func (r *Ref) Tell(msg any) {
	if !r.IsAbsent() {
		r.root.Send(r.pid, msg)
	}
}

// Stop lets the actor finish what is in its mailbox, stops it, and waits until
// it has stopped or ctx ends.
func (r *Ref) Stop(ctx context.Context) error {
	if r.IsAbsent() {
		return nil
	}
	select {
	case <-r.done:
		return nil
	default:
		r.root.Poison(r.pid)
	}
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop %s: %w", r.name, context.Cause(ctx))
	}
}

// Unhandled is the default case of every behaviour: it refuses a request and
// lets protoactor's own life-cycle messages pass.
func Unhandled(c actor.Context) {
	switch m := c.Message().(type) {
	case actor.AutoReceiveMessage, actor.SystemMessage:
	case call:
		m.fail(fmt.Errorf("%w: %T", ErrUnhandled, m))
	default:
		if c.Sender() != nil { // a plain request that is not in the list of Serve
			c.Respond(fmt.Errorf("%w: %T", ErrUnhandled, m))
			return
		}
		c.Logger().Error("message dropped", "actor", c.Self().Id, "type", fmt.Sprintf("%T", m))
	}
}
