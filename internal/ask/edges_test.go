package ask_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
)

// Nothing of a request is remembered once it was answered, or its caller has left.
func TestNothingIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sys := actortest.New(t)
		ref := sys.Spawn("calc", newCalc, ask.Serve[double]())
		held := func(step string, want int) {
			t.Helper()
			synctest.Wait()
			if n := ref.Held(); n != want {
				t.Errorf("%s: %d are held, want %d", step, n, want)
			}
		}
		for range 5 {
			if _, err := ask.Ask(t.Context(), ref, double{N: 1}); err != nil {
				t.Fatal(err)
			}
			if _, err := sys.Root.RequestFuture(ref.PID(), double{N: 1}, time.Hour).Result(); err != nil {
				t.Fatal(err)
			}
			_, _ = ask.Ask(t.Context(), ref, unknown{})
		}
		held("answered", 0)
		ctx, cancel := context.WithCancel(t.Context())
		for range 3 {
			go ask.Ask(ctx, ref, forget{})
		}
		held("not answered", 3)
		cancel()
		held("left", 0)
		go ask.Ask(t.Context(), ref, forget{})
		synctest.Wait()
		_, _ = ask.Ask(t.Context(), ref, blow{})
		held("panicked", 0)
	})
}

// A caller whose context has ended is not served, and learns why, even before it notices the end itself.
func TestGoneUnnoticed(t *testing.T) {
	ref := actortest.New(t).Spawn("calc", newCalc)
	if got, err := ask.Ask(gone{t.Context()}, ref, double{N: 1}); !errors.Is(err, context.Canceled) || got != 0 {
		t.Errorf("got %d, %v", got, err)
	}
}

// gone is a context that has ended without a word.
type gone struct{ context.Context }

func (gone) Err() error                  { return context.Canceled }
func (gone) Value(any) any               { return nil }
func (gone) Done() <-chan struct{}       { return nil }
func (gone) Deadline() (time.Time, bool) { return time.Time{}, false }

// A name is given to one actor at a time, and its requests are as they are listed.
func TestSpawnAndKinds(t *testing.T) {
	sys := actortest.New(t)
	sys.Spawn("calc", newCalc)
	ref, err := ask.Spawn(sys.Root, sys.Log, "calc", 1, newCalc, nil)
	if ref != nil || !errors.Is(err, actor.ErrNameExists) || !strings.Contains(err.Error(), "spawn calc") {
		t.Errorf("got %v, %v", ref, err)
	}
	kinds := ask.Kinds([]ask.Served{ask.Serve[double](), ask.Serve[unknown]()})
	if len(kinds) != 2 || kinds[0] == kinds[1] {
		t.Fatalf("kinds %v", kinds)
	}
	for _, kind := range kinds {
		if kind != reflect.TypeFor[double]() && kind != reflect.TypeFor[unknown]() {
			t.Errorf("kind %v", kind)
		}
	}
}

// Warnings and errors of the actor library reach the log with all their attributes.
func TestSystemLog(t *testing.T) {
	var text bytes.Buffer
	system := ask.NewSystem(slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelDebug})))
	log := system.Logger().With("a", 1).WithGroup("g")
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		log.Log(t.Context(), level, "said", "b", 2)
	}
	if got := text.String(); strings.Count(got, "\n") != 2 || strings.Count(got, "msg=said a=1 g.b=2") != 2 ||
		!strings.Contains(got, "level=WARN") || !strings.Contains(got, "level=ERROR") {
		t.Errorf("log: %s", got)
	}
	text.Reset()
	quiet := ask.NewSystem(slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: slog.LevelError})))
	quiet.Logger().Warn("said")
	if text.Len() != 0 {
		t.Errorf("log: %s", &text)
	}
}
