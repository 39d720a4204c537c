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

type (
	addTo struct {
		messages.Asks[int]
		N int
	}
	whenAbove struct {
		messages.Control[int]
		N int
	}
)

// A summer adds numbers up.
type summer struct {
	sum     int
	waiting []*ask.Call[whenAbove, int]
}

var summerTable = ask.TableOf(ask.AtOnce((*summer).add), ask.On((*summer).wait))

func (s *summer) Receive(c actor.Context) { summerTable.Serve(s, c) }

func (s *summer) add(q addTo) (int, error) {
	if q.N < 0 {
		return s.sum, errNegative
	}
	s.sum += q.N
	for _, w := range s.waiting {
		if s.sum > w.Req.N {
			w.Answer(s.sum, nil)
		}
	}
	return s.sum, nil
}

func (s *summer) wait(_ actor.Context, m *ask.Call[whenAbove, int]) { s.waiting = append(s.waiting, m) }

var errNegative = errors.New("negative")

// Each request of a table reaches its method, plain ones too; all others are refused.
func TestTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sys := actortest.New(t)
		ref := sys.Spawn("summer", func() actor.Actor { return new(summer) }, summerTable.Served...)
		late := make(chan int)
		go func() {
			n, err := ask.Ask(t.Context(), ref, whenAbove{N: 3})
			if err != nil {
				t.Error(err)
			}
			late <- n
		}()
		synctest.Wait()
		if n, err := ask.Ask(t.Context(), ref, addTo{N: 2}); n != 2 || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
		if _, err := ask.Ask(t.Context(), ref, addTo{N: -1}); !errors.Is(err, errNegative) {
			t.Errorf("a negative one: %v", err)
		}
		got, err := sys.Root.RequestFuture(ref.PID(), addTo{N: 3}, time.Second).Result()
		if got != 5 || err != nil {
			t.Errorf("a plain request: %v, %v", got, err)
		}
		if n := <-late; n != 5 {
			t.Errorf("who waited got %d", n)
		}
		if _, err := ask.Ask(t.Context(), ref, double{N: 1}); !errors.Is(err, ask.ErrUnhandled) {
			t.Errorf("a request that is not in the table: %v", err)
		}
	})
}

func TestTableWithTwoHandlers(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a request may have two handlers")
		}
	}()
	ask.TableOf(ask.AtOnce((*summer).add), ask.AtOnce((*summer).add))
}
