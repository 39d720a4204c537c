package ask_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

var nolog = slog.New(slog.DiscardHandler)

func system(log *slog.Logger) *actor.ActorSystem {
	return actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return log }),
		// The first dead letter starts a goroutine that sleeps this long.
		actor.WithDeadLetterThrottleInterval(time.Nanosecond))
}

func start(
	t *testing.T, in ask.Spawner, log *slog.Logger, name string, limit int, p actor.Producer, s ...ask.Served,
) *ask.Ref {
	t.Helper()
	r, err := ask.Spawn(in, log, name, limit, p, s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var calcServes = []ask.Served{ask.Serve[double](), ask.Serve[blow](), ask.Serve[forget]()}

func TestPlainRequest(t *testing.T) {
	sys := system(nolog)
	ref := start(t, sys.Root, nolog, "calc", 4, newCalc, calcServes...)
	wait := 2 * time.Second
	if got, err := sys.Root.RequestFuture(ref.PID(), double{N: 4}, wait).Result(); got != 8 || err != nil {
		t.Errorf("double: %v %v", got, err)
	}
	if got, _ := sys.Root.RequestFuture(ref.PID(), blow{}, wait).Result(); !isErr(got, ask.ErrRestarted) {
		t.Errorf("blow: %v", got)
	}
	if got, _ := sys.Root.RequestFuture(ref.PID(), unknown{}, wait).Result(); !isErr(got, ask.ErrUnhandled) {
		t.Errorf("unknown: %v", got)
	}
	// held and queued when it stops
	block := make(chan struct{})
	b := start(t, sys.Root, nolog, "busy", 4, func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			switch c.Message().(type) {
			case string:
				<-block
				c.Stop(c.Self())
			case *ask.Call[double, int]:
			}
		})
	}, calcServes...)
	held := sys.Root.RequestFuture(b.PID(), double{}, wait)
	b.Tell("work")
	var queued []actor.Future
	for range 5 {
		queued = append(queued, sys.Root.RequestFuture(b.PID(), double{}, wait))
	}
	close(block)
	for _, f := range append(queued, held) {
		if got, err := f.Result(); !isErr(got, ask.ErrStopped) && !errors.Is(err, actor.ErrDeadLetter) {
			t.Errorf("stopped: %v %v", got, err)
		}
	}
}

func isErr(v any, want error) bool { err, ok := v.(error); return ok && errors.Is(err, want) }

func TestPlainRequestsDuringStopStress(t *testing.T) {
	for range 200 {
		sys := system(nolog)
		ref := start(t, sys.Root, nolog, "calc", 4, newCalc, calcServes...)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 10 {
					got, err := sys.Root.RequestFuture(ref.PID(), double{N: 1}, 5*time.Second).Result()
					if got != 2 && !isErr(got, ask.ErrStopped) && !errors.Is(err, actor.ErrDeadLetter) {
						t.Errorf("%v %v", got, err)
					}
				}
			})
		}
		ref.Stop(t.Context())
		wg.Wait()
	}
}

func TestPanicWhileChildrenStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sys := system(nolog)
		hold := make(chan struct{})
		var started atomic.Int32
		ref := start(t, sys.Root, nolog, "parent", 4, func() actor.Actor {
			return actor.ReceiveFunc(func(c actor.Context) {
				switch c.Message().(type) {
				case *actor.Started:
					started.Add(1)
					c.Spawn(actor.PropsFromFunc(func(c actor.Context) {
						if _, ok := c.Message().(*actor.Stopping); ok {
							<-hold
						}
					}))
				case *ask.Call[blow, int]:
					panic("boom")
				}
			})
		})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		res := make(chan error, 1)
		go func() { res <- ref.Stop(ctx) }()
		synctest.Wait()
		if _, err := ask.Ask(ctx, ref, blow{}); !errors.Is(err, ask.ErrStopped) {
			t.Errorf("while stopping: %v", err)
		}
		close(hold)
		if err := <-res; err != nil || started.Load() != 1 {
			t.Errorf("stop: %v, started %d times", err, started.Load())
		}
	})
}

func TestChildPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sys := system(nolog)
		var kids, opened atomic.Int32
		busy, die := make(chan struct{}), make(chan struct{})
		ref := start(t, sys.Root, nolog, "registry", 4, func() actor.Actor {
			var kid *ask.Ref
			return actor.ReceiveFunc(func(c actor.Context) {
				switch m := c.Message().(type) {
				case *actor.Started:
					kid, _ = ask.Spawn(c, nolog, "kid", 4, func() actor.Actor {
						kids.Add(1)
						return actor.ReceiveFunc(func(c actor.Context) {
							switch c.Message().(type) {
							case *actor.Started:
								opened.Add(1)
							case *actor.Stopping:
								time.Sleep(30 * time.Millisecond)
							case *ask.Call[double, int]:
								panic("kid")
							case string:
								close(busy)
								<-die
								panic("late")
							}
						})
					}, nil)
				case *ask.Call[double, int]:
					ask.Then(m.Ctx, c, kid, m.Req, func(n int, err error) any { return forwarded{m, n, err} })
				case *ask.Call[twice, int]:
					kid.Tell("work")
					m.Answer(0, nil)
				case forwarded:
					m.call.Answer(m.got, m.err)
				}
			})
		})
		if _, err := ask.Ask(t.Context(), ref, double{}); !errors.Is(err, ask.ErrRestarted) {
			t.Errorf("child's panic: %v", err)
		}
		ask.Ask(t.Context(), ref, twice{})
		<-busy
		n := opened.Load()
		res := make(chan error, 1)
		go func() { res <- ref.Stop(t.Context()) }()
		synctest.Wait()
		close(die)
		if err := <-res; err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second) // of the bubble's time: supervision would have acted
		if opened.Load() != n {
			t.Errorf("opened again after its stop")
		}
	})
}

type unlock struct {
	messages.Asks[int]
	Passphrase string
}

func TestSecretsStayOut(t *testing.T) {
	var buf bytes.Buffer
	log := slog.New(slog.NewTextHandler(&buf, nil))
	sys := system(log)
	ref := start(t, sys.Root, log, "calc", 4, newCalc)
	ref.Stop(t.Context())
	ask.Ask(t.Context(), ref, unlock{Passphrase: "hunter2"})
	if bytes.Contains(buf.Bytes(), []byte("hunter2")) {
		t.Error(buf.String())
	}
}

type hop struct {
	messages.Asks[int]
	Left int
}
type hopped struct {
	call *ask.Call[hop, int]
	n    int
	err  error
}
type pingpong struct{ to **ask.Ref }

func (p *pingpong) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *ask.Call[hop, int]:
		if m.Req.Left == 0 {
			m.Answer(0, nil)
			return
		}
		ask.Then(m.Ctx, c, *p.to, hop{Left: m.Req.Left - 1}, func(n int, err error) any { return hopped{m, n, err} })
	case hopped:
		m.call.Answer(m.n+1, m.err)
	default:
		ask.Unhandled(c)
	}
}

func TestThenDoesNotStarve(t *testing.T) {
	sys := system(nolog)
	var a, b *ask.Ref
	a = start(t, sys.Root, nolog, "A", 4, func() actor.Actor { return &pingpong{&b} })
	b = start(t, sys.Root, nolog, "B", 4, func() actor.Actor { return &pingpong{&a} })
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	errs := make(chan error, 64)
	for range 64 {
		go func() { _, err := ask.Ask(ctx, a, hop{Left: 3}); errs <- err }()
	}
	for range 64 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
}

func TestLeavingCallerFreesItsSlot(t *testing.T) {
	sys := system(nolog)
	ref := start(t, sys.Root, nolog, "calc", 4, newCalc)
	for range 8 {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		ask.Ask(ctx, ref, forget{})
		cancel()
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := ask.Ask(ctx, ref, double{}); err != nil {
		t.Error(err)
	}
}

func TestPanicInWrap(t *testing.T) {
	sys := system(nolog)
	b := start(t, sys.Root, nolog, "b", 4, newCalc)
	a := start(t, sys.Root, nolog, "a", 4, func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			if m, ok := c.Message().(*ask.Call[double, int]); ok {
				ask.Then(m.Ctx, c, b, m.Req, func(int, error) any { panic("in wrap") })
			}
		})
	})
	if _, err := ask.Ask(t.Context(), a, double{}); !errors.Is(err, ask.ErrRestarted) {
		t.Error(err)
	}
}

// An answered call is never told that the actor stopped.
func TestAnswerBeatsStop(t *testing.T) {
	sys := system(nolog)
	for i := range 10_000 {
		var yes atomic.Bool
		ref := start(t, sys.Root, nolog, "a"+time.Now().String(), 4, func() actor.Actor {
			return actor.ReceiveFunc(func(c actor.Context) {
				if m, ok := c.Message().(*ask.Call[double, int]); ok {
					yes.Store(m.Answer(1, nil))
					c.Stop(c.Self())
				}
			})
		})
		_, err := ask.Ask(t.Context(), ref, double{})
		if err != nil {
			t.Fatalf("%d: answered %v, got %v", i, yes.Load(), err)
		}
	}
}
