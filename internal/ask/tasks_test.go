package ask_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// A chore is work that a householder has done beside him. The answer is how many
// pieces were running when its end came to him.
type chore struct {
	messages.Asks[int]
	work func() (inActor func())
}

// drop asks him to drop all that runs, and how many pieces that were.
type drop struct{ messages.Asks[int] }

type householder struct{ tasks ask.Tasks }

func (h *householder) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Stopping, *actor.Restarting:
		h.tasks.Drop()
	case *ask.Call[chore, int]:
		h.tasks.Go(c, func() func() {
			f := m.Req.work()
			if f == nil {
				return nil
			}
			return func() {
				f()
				m.Answer(h.tasks.Len(), nil)
			}
		})
	case *ask.Call[drop, int]:
		n := h.tasks.Len()
		h.tasks.Drop()
		m.Answer(n-h.tasks.Len(), nil)
	default:
		ask.Unhandled(c)
	}
}

// The rests of all workers' tasks run in the actor, one after the other. A task is over
// when its rest has run.
func TestTasks(t *testing.T) {
	const pieces = 50
	ref := actortest.New(t).Spawn("householder", func() actor.Actor { return new(householder) })
	begun, answers := make(chan struct{}), make(chan int, pieces)
	count := 0 // races unless the actor alone counts
	for range pieces {
		go func() {
			n, err := ask.Ask(t.Context(), ref, chore{work: func() func() {
				<-begun
				return func() { count++ }
			}})
			if err != nil {
				t.Error(err)
			}
			answers <- n
		}()
	}
	close(begun)
	for range pieces {
		if n := <-answers; n >= pieces {
			t.Errorf("%d pieces still run after one has ended", n)
		}
	}
	n, err := ask.Ask(t.Context(), ref, drop{})
	if n != 0 || err != nil || count != pieces {
		t.Errorf("%d are left, %d were done, %v", n, count, err)
	}
}

// Dropping tasks waits for the workers, and runs no rest of a task any more. A task without
// a rest is over all the same.
func TestTasksAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		ref := actortest.New(t).Spawn("householder", func() actor.Actor { return new(householder) })
		ended := false
		for _, left := range []func(){func() { t.Error("a dropped piece is done") }, nil} {
			go func() {
				if _, err := ask.Ask(t.Context(), ref, chore{work: func() func() {
					if left != nil {
						time.Sleep(time.Hour)
						ended = true
					}
					return left
				}}); !errors.Is(err, ask.ErrStopped) {
					t.Errorf("answered: %v", err)
				}
			}()
		}
		synctest.Wait()
		if n, err := ask.Ask(t.Context(), ref, drop{}); n != 1 || err != nil || !ended {
			t.Errorf("%d were dropped, ended %v, %v", n, ended, err)
		}
		if err := ref.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
	})
}

// A panic in the worker, or in the rest of a task, is a panic of the actor.
func TestTaskPanics(t *testing.T) {
	ref := actortest.New(t).Spawn("householder", func() actor.Actor { return new(householder) })
	for name, work := range map[string]func() func(){
		"worker": func() func() { panic("in the worker") },
		"actor":  func() func() { return func() { panic("in the actor") } },
	} {
		if _, err := ask.Ask(t.Context(), ref, chore{work: work}); !errors.Is(err, ask.ErrRestarted) {
			t.Errorf("%s: got %v", name, err)
		}
		if _, err := ask.Ask(t.Context(), ref, chore{work: func() func() { return func() {} }}); err != nil {
			t.Errorf("%s: afterwards %v", name, err)
		}
	}
}
