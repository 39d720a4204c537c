package ask_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// employ asks an employer to run work in a worker. The answer is the result.
type employ struct {
	messages.Asks[string]
	work func() any
}

// dismiss asks it to drop that worker.
type dismiss struct{ messages.Asks[int] }

// employer has one worker at a time.
type employer struct {
	worker *ask.Worker
	call   *ask.Call[employ, string]
	lost   *atomic.Int32 // results that nobody waits for
}

func newEmployer(lost *atomic.Int32) actor.Producer {
	return func() actor.Actor { return &employer{lost: lost} }
}

func (e *employer) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Stopping, *actor.Restarting:
		e.worker.Drop()
	case *ask.Call[employ, string]:
		e.call, e.worker = m, ask.Go(c, m.Req.work)
	case *ask.Call[dismiss, int]:
		e.worker.Drop()
		e.call.Answer("dismissed", nil)
		e.call = nil
		m.Answer(0, nil)
	case string:
		if e.call == nil {
			e.lost.Add(1)
			return
		}
		e.call.Answer(m, nil)
		e.call = nil
	default:
		ask.Unhandled(c)
	}
}

func TestWorkerReports(t *testing.T) {
	ref := actortest.New(t).Spawn("employer", newEmployer(new(atomic.Int32)))
	got, err := ask.Ask(t.Context(), ref, employ{work: func() any { return "done" }})
	if got != "done" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

// A worker that returns nil has nothing to say.
func TestWorkerMayBeSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lost atomic.Int32
		ref := actortest.New(t).Spawn("employer", newEmployer(&lost))
		answered := make(chan error, 1)
		go func() {
			_, err := ask.Ask(t.Context(), ref, employ{work: func() any { return nil }})
			answered <- err
		}()
		synctest.Wait()
		select {
		case err := <-answered:
			t.Errorf("answered: %v", err)
		default:
		}
		if err := ref.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-answered; !errors.Is(err, ask.ErrStopped) {
			t.Error(err)
		}
	})
}

// A panic of the worker is one of the actor: callers are answered at once, the
// log has the worker's stack, the next instance serves.
func TestWorkerPanic(t *testing.T) {
	var out lockedBuffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	ref := start(t, system(nolog).Root, log, "employer", 4, newEmployer(new(atomic.Int32)))
	defer func() { _ = ref.Stop(t.Context()) }()
	_, err := ask.Ask(t.Context(), ref, employ{work: func() any { panic(clumsy()) }})
	if !errors.Is(err, ask.ErrRestarted) {
		t.Errorf("got %v, want %v", err, ask.ErrRestarted)
	}
	got, err := ask.Ask(t.Context(), ref, employ{work: func() any { return "well" }})
	if got != "well" || err != nil {
		t.Errorf("after the restart: %q, %v", got, err)
	}
	if logged := out.String(); !strings.Contains(logged, "clumsy worker") ||
		!strings.Contains(logged, "worker_test.go") {
		t.Errorf("log lacks the panic or its place: %s", logged)
	}
}

func clumsy() string { return "clumsy worker" }

// Drop waits for the worker and keeps its result, or its panic, from the actor.
func TestWorkerDrop(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func() any
	}{
		{"result", func() any { return "too late" }},
		{"panic", func() any { panic("too late") }},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var lost atomic.Int32
				ref := actortest.New(t).Spawn("employer", newEmployer(&lost))
				finish, ended := make(chan struct{}), make(chan struct{})
				first := make(chan string, 1)
				go func() {
					got, _ := ask.Ask(t.Context(), ref, employ{work: func() any {
						<-finish
						close(ended)
						return test.end()
					}})
					first <- got
				}()
				synctest.Wait()
				dropped := make(chan error, 1)
				go func() {
					_, err := ask.Ask(t.Context(), ref, dismiss{})
					dropped <- err
				}()
				synctest.Wait()
				select {
				case <-dropped:
					t.Fatal("Drop did not wait for the worker")
				default:
				}
				close(finish)
				if err := <-dropped; err != nil {
					t.Error(err)
				}
				<-ended
				if got := <-first; got != "dismissed" {
					t.Errorf("got %q", got)
				}
				synctest.Wait()
				if lost.Load() != 0 {
					t.Error("the result arrived nevertheless")
				}
			})
		})
	}
}

// An actor that stops waits for its worker, and its caller is told.
func TestWorkerOfAStoppingActor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ref := actortest.New(t).Spawn("employer", newEmployer(new(atomic.Int32)))
		finish := make(chan struct{})
		answered := make(chan error, 1)
		go func() {
			_, err := ask.Ask(t.Context(), ref, employ{work: func() any { <-finish; return "late" }})
			answered <- err
		}()
		synctest.Wait()
		stopped := make(chan error, 1)
		go func() { stopped <- ref.Stop(t.Context()) }()
		synctest.Wait()
		select {
		case <-stopped:
			t.Fatal("stopped while the worker runs")
		default:
		}
		close(finish)
		if err := <-stopped; err != nil {
			t.Error(err)
		}
		if err := <-answered; !errors.Is(err, ask.ErrStopped) {
			t.Error(err)
		}
	})
}

func TestDropOfNoWorker(*testing.T) {
	var none *ask.Worker
	none.Drop()
}

// lockedBuffer is a buffer that the log of several goroutines may go to.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
