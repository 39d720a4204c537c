package ask

import (
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// A Feed announces values to actors, and to others by [Feed.Watch]. Each listener chooses: Subscribe brings all
// values in their order, so the publisher must be slower than the listener. SubscribeLatest coalesces: a listener
// that has not yet handled the last value gets only the newest. So a slow listener is never flooded, and never
// misses the latest value.
//
// Values that a publisher announces before it answers a request are in the mailboxes of all listeners before the
// caller has the answer.
//
// The zero value is ready. All methods are safe for concurrent use and none of them waits.
type Feed[T any] struct {
	mu        sync.Mutex
	listeners map[any]func(T) // by the id of an actor, or the channel of a watcher; called with mu held
	published uint64
}

// Subscribe makes every later value arrive as a T in the mailbox of the actor in c. An actor that restarts
// subscribes again, which replaces its former subscription. Subscribe returns [Feed.Published].
func (f *Feed[T]) Subscribe(c actor.Context) uint64 {
	self, root := c.Self(), c.ActorSystem().Root
	return f.add(self.Id, func(v T) { root.Send(self, v) })
}

// SubscribeLatest is Subscribe for a listener that needs only the newest value.
func (f *Feed[T]) SubscribeLatest(c actor.Context) {
	self, root, latest := c.Self(), c.ActorSystem().Root, make(chan T, 1)
	f.add(self.Id, func(v T) {
		if replace(latest, v) {
			root.Send(self, wrapped{make: func() any { return <-latest }})
		}
	})
}

// Watch returns a channel on which the newest of the later values arrives, for a listener that is no actor. stop
// ends that; the channel is never closed.
func (f *Feed[T]) Watch() (latest <-chan T, stop func()) {
	w := make(chan T, 1)
	f.add(w, func(v T) { replace(w, v) })
	return w, func() { f.remove(w) }
}

// replace puts a value into a channel with room for one, in place of the value that was not yet taken. It reports
// whether there was none. Only one goroutine at a time may call it.
func replace[T any](latest chan T, v T) (empty bool) {
	select {
	case <-latest:
	default:
		empty = true
	}
	latest <- v
	return empty
}

// Unsubscribe ends what Subscribe or SubscribeLatest began.
func (f *Feed[T]) Unsubscribe(c actor.Context) { f.remove(c.Self().Id) }

// Published returns how many values were published until now.
func (f *Feed[T]) Published() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.published
}

// Publish announces v.
func (f *Feed[T]) Publish(v T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.published++
	for _, announce := range f.listeners {
		announce(v)
	}
}

func (f *Feed[T]) add(key any, announce func(T)) (published uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.listeners == nil {
		f.listeners = make(map[any]func(T))
	}
	f.listeners[key] = announce
	return f.published
}

func (f *Feed[T]) remove(key any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.listeners, key)
}
