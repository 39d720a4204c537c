package ask_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
)

// A panic of a worker is a panic of the actor: callers are answered at once, the
// log has the worker's stack, the next instance serves.
func TestWorkerPanic(t *testing.T) {
	var out lockedBuffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	ref := start(t, system(nolog).Root, log, "householder", 4, func() actor.Actor { return new(householder) })
	defer func() { _ = ref.Stop(t.Context()) }()
	_, err := ask.Ask(t.Context(), ref, chore{work: func() func() { panic(clumsy()) }})
	if !errors.Is(err, ask.ErrRestarted) {
		t.Errorf("got %v, want %v", err, ask.ErrRestarted)
	}
	if _, err := ask.Ask(t.Context(), ref, chore{work: func() func() { return func() {} }}); err != nil {
		t.Errorf("after the restart: %v", err)
	}
	if logged := out.String(); !strings.Contains(logged, "clumsy worker") ||
		!strings.Contains(logged, "worker_test.go") {
		t.Errorf("log lacks the panic or its place: %s", logged)
	}
}

func clumsy() string { return "clumsy worker" }

// An actor that stops waits for its workers, keeps their panics from itself, and its callers are answered.
func TestWorkerOfAStoppingActor(t *testing.T) {
	for name, end := range map[string]func() func(){
		"result": func() func() { return func() { t.Error("done by an actor that has stopped") } },
		"panic":  func() func() { panic("too late") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ref := actortest.New(t).Spawn("householder", func() actor.Actor { return new(householder) })
				finish := make(chan struct{})
				answered := make(chan error, 1)
				go func() {
					_, err := ask.Ask(t.Context(), ref, chore{work: func() func() { <-finish; return end() }})
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
		})
	}
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
