package ask_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
)

// A feedListener notes all that a feed announces while it listens.
type feedListener struct {
	feed *ask.Feed[value]
	mu   sync.Mutex
	all  []value
	from uint64 // what had been published before
}

func (l *feedListener) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		l.from = l.feed.Subscribe(c)
	case *actor.Stopping, leave:
		l.feed.Unsubscribe(c)
	case value:
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, m)
	}
}

func (l *feedListener) received() []value {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.all)
}

// Every listener gets everything that is published while it listens, in its order.
func TestFeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sys, feed := actortest.New(t), new(ask.Feed[value])
		feed.Publish(0) // nobody is there
		a, b := &feedListener{feed: feed}, &feedListener{feed: feed}
		refA := sys.Spawn("a", func() actor.Actor { return a })
		sys.Spawn("b", func() actor.Actor { return b })
		synctest.Wait()
		for n := range value(100) {
			feed.Publish(n)
		}
		synctest.Wait()
		if got := a.received(); len(got) != 100 || !slices.IsSorted(got) || !slices.Equal(got, b.received()) {
			t.Errorf("got %v and %v", got, b.received())
		}
		refA.Tell(leave{})
		synctest.Wait()
		feed.Publish(100)
		synctest.Wait()
		if len(a.received()) != 100 || len(b.received()) != 101 {
			t.Errorf("after one left: %d and %d", len(a.received()), len(b.received()))
		}
		if published := feed.Published(); published != 102 || a.from != 1 {
			t.Errorf("published %d times, %d before the first listener", published, a.from)
		}
	})
}
