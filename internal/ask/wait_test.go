package ask_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

type waits struct{ messages.Asks[int] }

// Wait goes on over faults of the actor, and fails where no other instance follows.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sys := actortest.New(t)
		instances, held := 0, []*ask.Call[waits, int]{}
		ref := sys.Spawn("kept", func() actor.Actor {
			instances++
			number := instances
			held = nil
			return actor.ReceiveFunc(func(c actor.Context) {
				switch m := c.Message().(type) {
				case *ask.Call[waits, int]:
					held = append(held, m)
				case string:
					if m == "fail" {
						panic("fault")
					}
					for _, call := range held {
						call.Answer(number, nil)
					}
				}
			})
		})
		type answer struct {
			n   int
			err error
		}
		got := make(chan answer, 1)
		wait := func() {
			n, err := ask.Wait(t.Context(), ref, waits{})
			got <- answer{n, err}
		}
		go wait()
		synctest.Wait()
		for _, m := range []string{"fail", "fail", "answer"} {
			ref.Tell(m)
			synctest.Wait()
		}
		if a := <-got; a.n != 3 || a.err != nil {
			t.Errorf("got %v, want the answer of the third instance", a)
		}
		go wait()
		synctest.Wait()
		if err := ref.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if a := <-got; !errors.Is(a.err, ask.ErrStopped) {
			t.Errorf("after the stop: %v", a)
		}
	})
}
