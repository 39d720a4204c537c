package ask

import (
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// A Feed announces news to actors. Each listener gets all news in their order:
// unlike a [Topic], a Feed does not coalesce. So the publisher must be slower
// than its listeners.
//
// News that a publisher announces before it answers a request are in the
// mailboxes of all listeners before the caller has the answer.
//
// The zero value is ready. All methods are safe for concurrent use and none of
// them waits.
type Feed[T any] struct {
	mu        sync.Mutex
	listeners map[string]listening
	published uint64
}

type listening struct {
	pid  *actor.PID
	root *actor.RootContext
}

// Subscribe makes everything that is published from now on arrive as a T in the
// mailbox of the actor in c. It returns [Feed.Published].
func (f *Feed[T]) Subscribe(c actor.Context) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.listeners == nil {
		f.listeners = make(map[string]listening)
	}
	f.listeners[c.Self().Id] = listening{c.Self(), c.ActorSystem().Root}
	return f.published
}

// Published returns how many times something was published until now.
func (f *Feed[T]) Published() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.published
}

// Unsubscribe ends what Subscribe began.
func (f *Feed[T]) Unsubscribe(c actor.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.listeners, c.Self().Id)
}

// Publish announces v.
func (f *Feed[T]) Publish(v T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.published++
	for _, l := range f.listeners {
		l.root.Send(l.pid, v)
	}
}
