package ask

import "github.com/asynkron/protoactor-go/actor"

// Tasks are pieces of work that an actor has done beside it. The zero value has none.
// They are their actor's: not safe for concurrent use.
type Tasks struct{ running map[*Worker]struct{} }

// then is what a worker leaves to be done in the actor, in place of a message.
type then func()

// Go runs work in a goroutine, and in the actor what it returns, unless that is nil. A
// panic of either is a panic of the actor, as with [Go].
func (t *Tasks) Go(c actor.Context, work func() (then func())) {
	if t.running == nil {
		t.running = make(map[*Worker]struct{})
	}
	var w *Worker
	w = Go(c, func() any {
		f := work()
		return then(func() {
			delete(t.running, w)
			if f != nil {
				f()
			}
		})
	})
	t.running[w] = struct{}{}
}

// Len returns how many pieces of work have not been brought to their end in the actor.
func (t *Tasks) Len() int { return len(t.running) }

// Drop waits for all work and throws away what it returns. An actor that stops or
// restarts drops its tasks, so that nothing of them reaches the next instance.
func (t *Tasks) Drop() {
	for w := range t.running {
		w.Drop()
	}
	clear(t.running)
}
