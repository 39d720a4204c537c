package ask

import (
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// A Topic announces one kind of news to actors, and to others by [Topic.Watch].
// It coalesces: a listener that has not yet handled the last announcement gets
// only the newest. So a slow listener is never flooded, and never misses the
// latest value.
//
// The zero value is ready. All methods are safe for concurrent use and none of
// them waits.
type Topic[T any] struct {
	mu        sync.Mutex
	listeners map[string]*listener[T] // by actor
	watchers  map[chan T]struct{}     // of one place each, which Publish alone fills
}

// listener is one actor's place in a topic.
type listener[T any] struct {
	pid    *actor.PID
	root   *actor.RootContext
	mu     sync.Mutex
	latest T
	posted bool // an announcement is in the mailbox, not yet handled
}

// Subscribe makes every later announcement arrive as a T in the mailbox of the
// actor in c. An actor that restarts subscribes again, which replaces the place
// of its former self.
func (t *Topic[T]) Subscribe(c actor.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.listeners == nil {
		t.listeners = make(map[string]*listener[T])
	}
	t.listeners[c.Self().Id] = &listener[T]{pid: c.Self(), root: c.ActorSystem().Root}
}

// Unsubscribe ends what Subscribe began.
func (t *Topic[T]) Unsubscribe(c actor.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.listeners, c.Self().Id)
}

// Publish announces v.
func (t *Topic[T]) Publish(v T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.listeners {
		l.post(v)
	}
	for w := range t.watchers {
		select {
		case <-w: // not taken yet: the newest stands for both
		default:
		}
		w <- v
	}
}

// Watch returns a channel on which every later announcement arrives, for whoever is no
// actor. stop ends that; the channel is never closed.
func (t *Topic[T]) Watch() (news <-chan T, stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watchers == nil {
		t.watchers = make(map[chan T]struct{})
	}
	w := make(chan T, 1)
	t.watchers[w] = struct{}{}
	return w, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.watchers, w)
	}
}

func (l *listener[T]) post(v T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latest = v
	if l.posted {
		return
	}
	l.posted = true
	l.root.Send(l.pid, wrapped{make: l.take})
}

// take runs in the listening actor.
func (l *listener[T]) take() any {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.posted = false
	return l.latest
}
