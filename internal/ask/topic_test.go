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

// news is what the topics of these tests announce.
type news int

// listener notes the news it gets. Some messages make it behave badly.
type listenerActor struct {
	topic *ask.Topic[news]
	heard func(news)
}

type (
	pause struct{ until <-chan struct{} }
	fall  struct{}
	leave struct{}
)

func (l *listenerActor) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		l.topic.Subscribe(c)
	case *actor.Stopping, *actor.Restarting, leave:
		l.topic.Unsubscribe(c)
	case news:
		l.heard(m)
	case pause:
		<-m.until
	case fall:
		panic("fell")
	default:
		ask.Unhandled(c)
	}
}

// listen starts a listener and returns what it has heard so far.
func listen(sys *actortest.System, name string, topic *ask.Topic[news]) (ref *ask.Ref, heard func() []news) {
	var mu sync.Mutex
	var all []news
	ref = sys.Spawn(name, func() actor.Actor {
		return &listenerActor{topic, func(n news) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, n)
		}}
	})
	return ref, func() []news {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

func TestTopicReachesEveryListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sys, topic := actortest.New(t), new(ask.Topic[news])
		topic.Publish(1) // nobody is there
		_, a := listen(sys, "a", topic)
		_, b := listen(sys, "b", topic)
		synctest.Wait()
		for _, n := range []news{2, 3} {
			topic.Publish(n)
			synctest.Wait()
		}
		if want := []news{2, 3}; !slices.Equal(a(), want) || !slices.Equal(b(), want) {
			t.Errorf("heard %v and %v, want %v", a(), b(), want)
		}
	})
}

// A slow listener gets the newest announcement alone.
func TestTopicCoalesces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sys, topic := actortest.New(t), new(ask.Topic[news])
		slow, heard := listen(sys, "slow", topic)
		_, other := listen(sys, "other", topic)
		synctest.Wait()
		until := make(chan struct{})
		slow.Tell(pause{until})
		for n := range news(100) {
			topic.Publish(n)
			synctest.Wait()
		}
		if got := heard(); len(got) != 0 {
			t.Errorf("heard %v while busy", got)
		}
		close(until)
		synctest.Wait()
		if got := heard(); !slices.Equal(got, []news{99}) {
			t.Errorf("heard %v, want the last one alone", got)
		}
		if got := other(); len(got) != 100 {
			t.Errorf("the listener beside it heard %d, want 100", len(got))
		}
	})
}

// However fast announcements are published, their order stays and the last arrives.
func TestTopicNeverMissesTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sys, topic := actortest.New(t), new(ask.Topic[news])
		_, heard := listen(sys, "a", topic)
		synctest.Wait()
		const last = 5000
		for n := range news(last + 1) {
			topic.Publish(n)
		}
		synctest.Wait()
		got := heard()
		if !slices.IsSorted(got) || len(got) == 0 || got[len(got)-1] != last {
			t.Errorf("heard %d announcements, the last %v", len(got), got[max(0, len(got)-1):])
		}
	})
}

// A listener that failed subscribes again, and gets each later announcement once.
func TestTopicSurvivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sys, topic := actortest.New(t), new(ask.Topic[news])
		ref, heard := listen(sys, "a", topic)
		synctest.Wait()
		topic.Publish(1)
		ref.Tell(fall{})
		synctest.Wait()
		topic.Publish(2)
		synctest.Wait()
		if got := heard(); !slices.Equal(got, []news{1, 2}) {
			t.Errorf("heard %v, want [1 2]", got)
		}
	})
}

func TestTopicUnsubscribe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sys, topic := actortest.New(t), new(ask.Topic[news])
		ref, heard := listen(sys, "a", topic)
		ref.Tell(leave{})
		synctest.Wait()
		topic.Publish(1)
		synctest.Wait()
		if got := heard(); len(got) != 0 {
			t.Errorf("heard %v after it left", got)
		}
		if err := ref.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		topic.Publish(2) // to nobody
	})
}

// A watcher that is no actor gets the newest announcement, and costs nothing while it does
// not look.
func TestTopicWatch(t *testing.T) {
	var topic ask.Topic[news]
	first, stop := topic.Watch()
	second, stopSecond := topic.Watch()
	defer stopSecond()
	for n := range news(100) {
		topic.Publish(n)
	}
	if got := <-first; got != 99 {
		t.Errorf("got %d", got)
	}
	stop()
	topic.Publish(100)
	select {
	case n := <-first:
		t.Errorf("got %d after stop", n)
	default:
	}
	if got := <-second; got != 100 {
		t.Errorf("got %d", got)
	}
}
