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

// value is what the feeds of these tests announce.
type value int

// listenerActor notes the values that it receives. Some messages make it behave badly.
type listenerActor struct {
	feed *ask.Feed[value]
	took func(value)
}

type (
	pause struct{ until <-chan struct{} }
	fall  struct{}
	leave struct{}
)

func (l *listenerActor) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		l.feed.SubscribeLatest(c)
	case *actor.Stopping, *actor.Restarting, leave:
		l.feed.Unsubscribe(c)
	case value:
		l.took(m)
	case pause:
		<-m.until
	case fall:
		panic("fell")
	default:
		ask.Unhandled(c)
	}
}

// listen starts a listener and returns what it has received so far.
func listen(sys *actortest.System, name string, feed *ask.Feed[value]) (ref *ask.Ref, received func() []value) {
	var mu sync.Mutex
	var all []value
	ref = sys.Spawn(name, func() actor.Actor {
		return &listenerActor{feed, func(n value) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, n)
		}}
	})
	return ref, func() []value {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

func TestLatestReachesEveryListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sys, feed := actortest.New(t), new(ask.Feed[value])
		feed.Publish(1) // nobody is there
		_, a := listen(sys, "a", feed)
		_, b := listen(sys, "b", feed)
		synctest.Wait()
		for _, n := range []value{2, 3} {
			feed.Publish(n)
			synctest.Wait()
		}
		if want := []value{2, 3}; !slices.Equal(a(), want) || !slices.Equal(b(), want) {
			t.Errorf("received %v and %v, want %v", a(), b(), want)
		}
	})
}

// A slow listener gets the newest announcement alone.
func TestLatestCoalesces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sys, feed := actortest.New(t), new(ask.Feed[value])
		slow, received := listen(sys, "slow", feed)
		_, other := listen(sys, "other", feed)
		every := &feedListener{feed: feed}
		sys.Spawn("every", func() actor.Actor { return every })
		synctest.Wait()
		until := make(chan struct{})
		slow.Tell(pause{until})
		for n := range value(100) {
			feed.Publish(n)
			synctest.Wait()
		}
		if got := received(); len(got) != 0 {
			t.Errorf("received %v while busy", got)
		}
		close(until)
		synctest.Wait()
		if got := received(); !slices.Equal(got, []value{99}) {
			t.Errorf("received %v, want the last one alone", got)
		}
		if got := other(); len(got) != 100 {
			t.Errorf("the listener beside it received %d, want 100", len(got))
		}
		if got := every.received(); len(got) != 100 || !slices.IsSorted(got) {
			t.Errorf("the listener of all values received %v", got)
		}
	})
}

// However fast announcements are published, their order stays and the last arrives.
func TestLatestNeverMissesTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sys, feed := actortest.New(t), new(ask.Feed[value])
		_, received := listen(sys, "a", feed)
		synctest.Wait()
		const last = 5000
		for n := range value(last + 1) {
			feed.Publish(n)
		}
		synctest.Wait()
		got := received()
		if !slices.IsSorted(got) || len(got) == 0 || got[len(got)-1] != last {
			t.Errorf("received %d announcements, the last %v", len(got), got[max(0, len(got)-1):])
		}
	})
}

// A listener that failed subscribes again, and gets each later announcement once.
func TestLatestSurvivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sys, feed := actortest.New(t), new(ask.Feed[value])
		ref, received := listen(sys, "a", feed)
		synctest.Wait()
		feed.Publish(1)
		ref.Tell(fall{})
		synctest.Wait()
		feed.Publish(2)
		synctest.Wait()
		if got := received(); !slices.Equal(got, []value{1, 2}) {
			t.Errorf("received %v, want [1 2]", got)
		}
	})
}

func TestLatestUnsubscribe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sys, feed := actortest.New(t), new(ask.Feed[value])
		ref, received := listen(sys, "a", feed)
		ref.Tell(leave{})
		synctest.Wait()
		feed.Publish(1)
		synctest.Wait()
		if got := received(); len(got) != 0 {
			t.Errorf("received %v after it left", got)
		}
		if err := ref.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		feed.Publish(2) // to nobody
	})
}

// A watcher that is no actor gets the newest announcement, and costs nothing while it does
// not look.
func TestFeedWatch(t *testing.T) {
	var feed ask.Feed[value]
	first, stop := feed.Watch()
	second, stopSecond := feed.Watch()
	defer stopSecond()
	for n := range value(100) {
		feed.Publish(n)
	}
	if got := <-first; got != 99 {
		t.Errorf("got %d", got)
	}
	stop()
	feed.Publish(100)
	select {
	case n := <-first:
		t.Errorf("got %d after stop", n)
	default:
	}
	if got := <-second; got != 100 {
		t.Errorf("got %d", got)
	}
}
