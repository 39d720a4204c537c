package ask

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

// A Worker is a goroutine that does one piece of work for an actor, which must
// not block itself.
type Worker struct {
	done    chan struct{}
	dropped atomic.Bool
}

// WorkerPanic is what the actor panics with when its worker did.
type WorkerPanic struct {
	Value any
	Stack string // of the worker
}

// String returns the panic and where it happened.
func (p WorkerPanic) String() string { return fmt.Sprintf("worker: %v\n%s", p.Value, p.Stack) }

// Go runs work in a goroutine. The result arrives as a message in the mailbox
// of the actor in c, unless it is nil. A panic of the worker becomes a panic of
// the actor: its callers are answered and supervision decides. The same holds
// for a fault of mapped memory, say of a file that was cut short.
func Go(c actor.Context, work func() any) *Worker {
	w := &Worker{done: make(chan struct{})}
	self, root := c.Self(), c.ActorSystem().Root
	go func() {
		// The message is sent before done is closed, so that nothing of the worker
		// is left when Wait returns.
		defer close(w.done)
		result, failure := run(work)
		root.Send(self, wrapped{make: func() any {
			switch {
			case w.dropped.Load():
				return nil
			case failure != nil:
				panic(*failure)
			}
			if f, ok := result.(then); ok {
				f()
				return nil
			}
			return result
		}})
	}()
	return w
}

func run(work func() any) (result any, failure *WorkerPanic) {
	defer func() {
		if p := recover(); p != nil {
			failure = &WorkerPanic{p, string(debug.Stack())}
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return work(), nil
}

// Wait waits for the worker to end; its result is on its way then. It is for
// workers that must not overtake each other: an actor does not wait.
func (w *Worker) Wait() {
	if w != nil {
		<-w.done
	}
}

// Drop waits for the worker to end and throws its result away. An actor that
// stops or restarts drops its workers, so that nothing of them reaches the
// next instance. A nil Worker has nothing to drop.
func (w *Worker) Drop() {
	if w == nil {
		return
	}
	w.dropped.Store(true)
	<-w.done
}
