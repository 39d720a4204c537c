package ask

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"

	"github.com/asynkron/protoactor-go/actor"
)

// guard keeps the promise of the package comment from inside the actor.
func (r *Ref) guard(log *slog.Logger) actor.ReceiverMiddleware {
	return func(next actor.ReceiverFunc) actor.ReceiverFunc {
		return func(c actor.ReceiverContext, env *actor.MessageEnvelope) {
			env, ok := r.admit(env)
			w, isWrapped := env.Message.(wrapped)
			if !ok || isWrapped && w.by != nil && w.by != instanceOf(c) {
				w.unwanted()
				return
			}
			defer r.handled(log, env)
			r.counts.enter()
			if _, starts := env.Message.(*actor.Started); starts {
				begin(c)
			}
			if isWrapped {
				if env = (&actor.MessageEnvelope{Message: w.make()}); env.Message == nil {
					return
				}
			}
			next(c, env)
		}
	}
}

// admit notes the message that is about to be handled. It reports false for a
// call whose caller has gone. Once the actor is stopping, it reports false for
// all messages but Stopped. The reason is protoactor: it would restart an actor
// that panics between Stopping and Stopped, and even a stopped actor.
func (r *Ref) admit(env *actor.MessageEnvelope) (*actor.MessageEnvelope, bool) {
	r.mu.Lock()
	delete(r.queued, env)
	if env.Sender != nil {
		if wrap, ok := r.serve[reflect.TypeOf(env.Message)]; ok {
			env = &actor.MessageEnvelope{Header: env.Header, Message: wrap(r, env.Message, env.Sender)}
		}
	}
	m, isCall := env.Message.(call)
	stopping := r.stopping
	switch env.Message.(type) {
	case *actor.Stopping:
		r.stopping = true
		stopping = false
	case *actor.Stopped, *actor.Terminated:
		stopping = false
	}
	skip := stopping || isCall && (m.done() || m.left() != nil)
	if isCall && !skip {
		r.pending[m] = struct{}{}
	}
	r.mu.Unlock()
	if skip && isCall {
		why := m.left() // which the caller may not have noticed yet
		if why == nil {
			why = ErrStopped
		}
		m.fail(fmt.Errorf("ask %s: %w", r.name, why)) // no effect when it has ended
	}
	return env, !skip
}

// handled runs after every message, panicked or not.
func (r *Ref) handled(log *slog.Logger, env *actor.MessageEnvelope) {
	p := recover()
	r.counts.leave()
	r.mu.Lock()
	stopping := r.stopping
	r.mu.Unlock()
	if p != nil {
		log.Error("actor panicked", "actor", r.name, "panic", p,
			"message", fmt.Sprintf("%T", env.Message), "stack", string(debug.Stack()))
		if !stopping {
			r.failPending(ErrRestarted)
		}
	}
	if _, ok := env.Message.(*actor.Stopped); ok {
		r.failPending(ErrStopped)
		select {
		case <-r.done:
		default:
			close(r.done)
		}
		if m := r.meter.Load(); m != nil {
			m.stopped(r)
		}
		return
	}
	if p != nil && !stopping {
		r.counts.restarts.Add(1)
		panic(p) // supervision decides
	}
}

func (r *Ref) forget(c call) { r.mu.Lock(); delete(r.pending, c); r.mu.Unlock() }

func (r *Ref) failPending(err error) {
	err = fmt.Errorf("ask %s: %w", r.name, err)
	r.mu.Lock()
	pending := make([]call, 0, len(r.pending))
	for c := range r.pending {
		pending = append(pending, c)
	}
	var senders []*actor.PID
	if errors.Is(err, ErrStopped) {
		r.stopped = true
		for env := range r.queued {
			senders = append(senders, env.Sender)
		}
		clear(r.queued)
	}
	r.mu.Unlock()
	for _, c := range pending {
		c.fail(err)
	}
	for _, s := range senders {
		r.root.Send(s, err)
	}
}

// mailboxHook sees every message before the mailbox does, so that a plain request
// which is still queued when the actor stops is answered too.
type mailboxHook struct{ r *Ref }

func (mailboxHook) MailboxStarted()     {}
func (mailboxHook) MessageReceived(any) {}
func (mailboxHook) MailboxEmpty()       {}

func (h mailboxHook) MessagePosted(msg any) {
	env, ok := msg.(*actor.MessageEnvelope)
	if !ok || env.Sender == nil {
		return
	}
	h.r.mu.Lock()
	late := h.r.stopped
	if !late {
		h.r.queued[env] = struct{}{}
	}
	h.r.mu.Unlock()
	if late {
		h.r.root.Send(env.Sender, fmt.Errorf("ask %s: %w", h.r.name, ErrStopped))
	}
}
