package ask

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"
)

// A worker is a goroutine that does one piece of work for an actor, which must
// not block itself.
type worker struct {
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

// startWorker runs work in a goroutine, and in the actor in c what it returns. A panic of the worker becomes a
// panic of the actor: its callers are answered and supervision decides. The same holds
// for a fault of mapped memory, say of a file that was cut short.
func startWorker(c actor.Context, work func() step) *worker {
	w := &worker{done: make(chan struct{})}
	self, root := c.Self(), c.ActorSystem().Root
	go func() {
		// The message is sent before done is closed, so that nothing of the worker
		// is left when drop returns.
		defer close(w.done)
		result, failure := run(work)
		root.Send(self, wrapped{make: func() any {
			switch {
			case w.dropped.Load():
				return nil
			case failure != nil:
				panic(*failure)
			}
			return result
		}})
	}()
	return w
}

func run(work func() step) (result step, failure *WorkerPanic) {
	defer func() {
		if p := recover(); p != nil {
			failure = &WorkerPanic{p, string(debug.Stack())}
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return work(), nil
}

// drop waits for the worker to end and throws its result away.
func (w *worker) drop() {
	w.dropped.Store(true)
	<-w.done
}
