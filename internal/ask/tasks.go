package ask

import "github.com/asynkron/protoactor-go/actor"

// Tasks are pieces of work that an actor has done beside it. The zero value has none.
// They are their actor's: not safe for concurrent use.
type Tasks struct{ running map[*worker]struct{} }

// A step is what work beside an actor leaves to be done in the actor, as a message of its own.
type step func()

// Go runs work in a goroutine, and in the actor what it returns, unless that is nil. A
// panic of either is a panic of the actor, and so is a fault of mapped memory.
func (t *Tasks) Go(c actor.Context, work func() (then func())) {
	if t.running == nil {
		t.running = make(map[*worker]struct{})
	}
	var w *worker
	w = startWorker(c, func() step {
		f := work()
		return func() {
			delete(t.running, w)
			if f != nil {
				f()
			}
		}
	})
	t.running[w] = struct{}{}
}

// Len returns how many pieces of work have not been brought to their end in the actor.
func (t *Tasks) Len() int { return len(t.running) }

// Drop waits for all work and throws away what it returns. An actor that stops or
// restarts drops its tasks, so that nothing of them reaches the next instance.
func (t *Tasks) Drop() {
	for w := range t.running {
		w.drop()
	}
	clear(t.running)
}

// An acting actor takes the steps of its work, and leaves all other messages to the actor itself.
type acting struct{ actor.Actor }

// Receive implements actor.Actor.
func (a acting) Receive(c actor.Context) {
	if do, ok := c.Message().(step); ok {
		do()
		return
	}
	a.Actor.Receive(c)
}
