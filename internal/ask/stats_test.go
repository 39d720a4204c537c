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

type sleep struct {
	messages.Asks[int]
	For time.Duration
}

// sleeper takes its time with each message.
func sleeper() actor.Actor {
	return actor.ReceiveFunc(func(c actor.Context) {
		switch m := c.Message().(type) {
		case *ask.Call[sleep, int]:
			time.Sleep(m.Req.For)
			m.Answer(1, nil)
		case *ask.Call[blow, int]:
			time.Sleep(time.Second)
			panic("boom")
		default:
			ask.Unhandled(c)
		}
	})
}

// The counts of an actor's work can be read while the actor does not answer.
func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ref, err := ask.Spawn(actortest.New(t).Root, nolog, "sleeper", 2, sleeper, nil)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got, want := ref.Stats(), (ask.Stats{Actors: 1, Messages: 1}); got != want { // its start
			t.Errorf("new: %+v, want %+v", got, want)
		}
		for range 4 {
			go func() { _, _ = ask.Ask(t.Context(), ref, sleep{For: 10 * time.Second}) }()
		}
		synctest.Wait()
		ref.Tell("something")
		time.Sleep(3 * time.Second)
		synctest.Wait()
		want := ask.Stats{Actors: 1, Messages: 1, Queue: 2, Calls: 2, Waiting: 2, Current: 3 * time.Second}
		if got := ref.Stats(); got != want {
			t.Errorf("busy: %+v, want %+v", got, want)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got, want := ref.Stats(), (ask.Stats{Actors: 1, Messages: 6, Busy: 40 * time.Second}); got != want {
			t.Errorf("afterwards: %+v, want %+v", got, want)
		}
		if _, err := ask.Ask(t.Context(), ref, blow{}); !errors.Is(err, ask.ErrRestarted) {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := ref.Stats(); got.Restarts != 1 || got.Busy != 41*time.Second || got.Current != 0 {
			t.Errorf("after a panic: %+v", got)
		}
		if err := ref.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := ask.Absent("x").Stats(); got != (ask.Stats{}) {
			t.Errorf("absent: %+v", got)
		}
		time.Sleep(time.Microsecond) // see actortest.New
	})
}

// Sums never fall, although actors come and go.
func TestMeter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		system := actortest.New(t)
		var meter ask.Meter
		spawn := func(name string) *ask.Ref {
			ref, err := ask.Spawn(system.Root, nolog, name, 4, sleeper, nil)
			if err != nil {
				t.Fatal(err)
			}
			meter.Add(ref)
			synctest.Wait()
			return ref
		}
		a, b := spawn("a"), spawn("b")
		for _, ref := range []*ask.Ref{a, b} {
			if _, err := ask.Ask(t.Context(), ref, sleep{For: time.Second}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if got, want := meter.Stats(), (ask.Stats{Actors: 2, Messages: 4, Busy: 2 * time.Second}); got != want {
			t.Errorf("both: %+v, want %+v", got, want)
		}
		if err := a.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		got := meter.Stats()
		if got.Actors != 1 || got.Messages < 4 || got.Busy != 2*time.Second {
			t.Errorf("one is gone: %+v", got)
		}
		meter.Add(a) // too late: it has no news
		if again := meter.Stats(); again.Actors != 1 {
			t.Errorf("one that had stopped: %+v", again)
		}
		if err := b.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := meter.Stats(); got.Actors != 0 || got.Busy != 2*time.Second || got.Queue != 0 {
			t.Errorf("none: %+v", got)
		}
		(*ask.Meter)(nil).Add(a)
		time.Sleep(time.Microsecond)
	})
}
