package events

import (
	"context"
	"slices"
	"sync"

	"github.com/seed61375155/trawl/messages"
)

// maxQueued is how many events a reader may leave unread.
const maxQueued = 1024

// A reader is one subscription: the actor offers, the subscriber takes.
type reader struct {
	kinds []messages.EventKind
	ready chan struct{} // of one place: there is something to see

	mu    sync.Mutex
	queue []messages.Event
	err   error // after the queue; nil: there may be more
}

func newReader(kinds []messages.EventKind) *reader {
	return &reader{kinds: slices.Clone(kinds), ready: make(chan struct{}, 1)}
}

// wants reports whether events of a kind are for the reader.
func (r *reader) wants(kind messages.EventKind) bool {
	return len(r.kinds) == 0 || slices.Contains(r.kinds, kind)
}

// offer adds an event. It reports false when the reader gets no more.
func (r *reader) offer(e messages.Event) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil && r.wants(e.News.Kind()) {
		if len(r.queue) == maxQueued {
			r.err = messages.ErrLagged
		} else {
			r.queue = append(r.queue, e)
		}
		r.wake()
	}
	return r.err == nil
}

// end lets the reader have what is queued, and then err.
func (r *reader) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
		r.wake()
	}
}

func (r *reader) wake() {
	select {
	case r.ready <- struct{}{}:
	default:
	}
}

// Next implements messages.Subscription.
func (r *reader) Next(ctx context.Context) (messages.Event, error) {
	for {
		if e, ok, err := r.take(); ok || err != nil {
			return e, err
		}
		select {
		case <-r.ready:
		case <-ctx.Done():
			return messages.Event{}, context.Cause(ctx)
		}
	}
}

func (r *reader) take() (e messages.Event, ok bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) == 0 {
		return e, false, r.err
	}
	e = r.queue[0]
	r.queue = slices.Delete(r.queue, 0, 1)
	return e, true, nil
}

// Close implements messages.Subscription.
func (r *reader) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue, r.err = nil, messages.ErrUnsubscribed
	r.wake()
}
