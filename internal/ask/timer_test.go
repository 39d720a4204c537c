package ask_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
)

// timed is an actor that does with its timer what a message says.
type timed struct {
	ask.Timer

	got *[]any
}

func (a *timed) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case func(*timed, actor.Context):
		m(a, c)
	case string:
		*a.got = append(*a.got, m, a.IsSet())
	case *actor.Restarting, *actor.Stopping:
		a.Stop()
	}
}

// A message comes once, after its time. It never comes when it was taken back or replaced, even
// if it is in the mailbox by then, and never in the instance after a restart.
func TestTimer(t *testing.T) {
	set := func(d time.Duration, msg string) func(*timed, actor.Context) {
		return func(a *timed, c actor.Context) { a.Set(c, d, msg) }
	}
	stop := func(a *timed, _ actor.Context) { a.Stop() }
	late := func(then func(*timed, actor.Context)) func(*timed, actor.Context) {
		return func(a *timed, c actor.Context) {
			a.Set(c, time.Second, "late")
			time.Sleep(time.Minute) // of the bubble: the message waits behind this one
			then(a, c)
		}
	}
	fail := func(*timed, actor.Context) { panic("fault") }
	type steps []func(*timed, actor.Context)
	for name, test := range map[string]struct {
		do   steps
		want []any
	}{
		"zero":              {steps{stop, stop}, nil},
		"once":              {steps{set(time.Second, "a")}, []any{"a", false}},
		"in place":          {steps{set(time.Second, "a"), set(time.Hour, "b")}, []any{"b", false}},
		"stopped":           {steps{set(time.Second, "a"), stop}, nil},
		"stopped late":      {steps{late(stop)}, nil},
		"set again late":    {steps{late(set(time.Second, "b"))}, []any{"b", false}},
		"failed":            {steps{set(time.Second, "a"), fail}, nil},
		"failed late":       {steps{late(fail)}, nil},
		"failed, set again": {steps{late(fail), set(0, "b")}, []any{"b", false}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []any
				sys := actortest.New(t)
				ref := sys.Spawn("timed", func() actor.Actor { return &timed{got: &got} })
				for _, f := range test.do {
					ref.Tell(f)
				}
				time.Sleep(2 * time.Hour)
				synctest.Wait()
				if !slices.Equal(got, test.want) {
					t.Errorf("got %v, want %v", got, test.want)
				}
			})
		})
	}
}

// A timer is set from Set until its message has come, or Stop.
func TestTimerIsSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []any
		sys := actortest.New(t)
		ref := sys.Spawn("timed", func() actor.Actor { return &timed{got: &got} })
		look := func(a *timed, _ actor.Context) { got = append(got, a.IsSet()) }
		ref.Tell(look)
		ref.Tell(func(a *timed, c actor.Context) { a.Set(c, time.Second, "a") })
		ref.Tell(look)
		time.Sleep(time.Minute)
		ref.Tell(func(a *timed, c actor.Context) { a.Set(c, time.Second, "b"); a.Stop() })
		ref.Tell(look)
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []any{false, true, "a", false, false}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
