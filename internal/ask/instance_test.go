package ask_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// lend asks for something that is to be given back.
type lend struct{ messages.Asks[*loan] }

type loan struct{ back *atomic.Int32 }

func (l *loan) Release() { l.back.Add(1) }

// borrower asks for a loan, and counts what it gets.
type borrower struct {
	from *ask.Ref
	got  *atomic.Int32
}

func (b *borrower) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *ask.Call[double, int]:
		ask.Then(m.Ctx, c, b.from, lend{}, func(l *loan, err error) any { return lent{m, l, err} })
	case lent:
		b.got.Add(1)
		m.call.Answer(1, m.err)
	case *ask.Call[blow, int]:
		panic("boom")
	default:
		ask.Unhandled(c)
	}
}

type lent struct {
	call *ask.Call[double, int]
	loan *loan
	err  error
}

// An answer does not arrive at the next instance of the actor that has asked: it is given
// back. The caller was told when that instance failed. The next one gets its own answers.
func TestAnswerToAFailedInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sys := actortest.New(t)
		probe := sys.Probe("lender")
		var got, back atomic.Int32
		ref := sys.Spawn("borrower", func() actor.Actor { return &borrower{probe.Ref, &got} })
		asked := func() (call *ask.Call[lend, *loan], answer chan error) {
			answer = make(chan error, 2)
			go func() {
				_, err := ask.Ask(t.Context(), ref, double{})
				answer <- err
			}()
			return actortest.Expect[*ask.Call[lend, *loan]](probe), answer
		}
		late, lateAnswer := asked()
		failing, failingAnswer := asked()
		_, _ = ask.Ask(t.Context(), ref, blow{})
		for _, answer := range []chan error{lateAnswer, failingAnswer} {
			if err := <-answer; !errors.Is(err, ask.ErrRestarted) {
				t.Errorf("the caller was told %v", err)
			}
		}
		late.Answer(&loan{&back}, nil)
		failing.Answer(nil, errors.New("no"))
		synctest.Wait()
		if got.Load() != 0 || back.Load() != 1 {
			t.Errorf("the next instance got %d answers, %d were given back", got.Load(), back.Load())
		}

		call, answer := asked()
		call.Answer(&loan{&back}, nil)
		if err := <-answer; err != nil || got.Load() != 1 || back.Load() != 1 {
			t.Errorf("its own answer: %v; it got %d, %d were given back", err, got.Load(), back.Load())
		}
	})
}
