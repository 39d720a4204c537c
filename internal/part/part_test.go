package part_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/part"
	"github.com/seed61375155/trawl/messages"
)

// idle is an actor that serves nothing.
type idle struct{ stopped func() }

func (i idle) Receive(c actor.Context) {
	if _, ok := c.Message().(*actor.Stopping); ok {
		i.stopped()
		return
	}
	ask.Unhandled(c)
}

// rig makes parts that log their events.
type rig struct {
	system *actor.ActorSystem
	log    []string
}

func newRig() *rig {
	quiet := func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }
	return &rig{system: actor.NewActorSystem(actor.WithLoggerFactory(quiet))}
}

func (r *rig) part(name string, needs ...string) part.Part {
	return part.Part{Name: name, Needs: needs, Start: func(_ context.Context, u *part.Uses) (part.Running, error) {
		for _, n := range needs {
			u.Ref(n)
		}
		r.log = append(r.log, "start "+name)
		stopping := func() { r.log = append(r.log, "stop "+name) }
		ref, err := ask.Spawn(
			r.system.Root, slog.New(slog.DiscardHandler), name, 4, func() actor.Actor { return idle{stopping} }, nil,
		)
		return part.Running{Ref: ref, Close: func() error { r.log = append(r.log, "close "+name); return nil }}, err
	}}
}

func TestOrder(t *testing.T) {
	r := newRig()
	off := r.part("b", "a")
	off.Off = true
	table := []part.Part{r.part("a"), off, r.part("c", "a", "b")}
	set, err := part.Open(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ask.Ask(t.Context(), set.Ref("b"), messages.GetTip{}); !errors.Is(err, ask.ErrAbsent) {
		t.Error(err)
	}
	if list := set.Untaken(table); list != nil {
		t.Error("named and not taken:", list)
	}
	for range 2 {
		if err := set.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"start a", "start c", "stop c", "close c", "stop a", "close a"}
	if !slices.Equal(r.log, want) {
		t.Error(r.log)
	}
	if err := set.Wait(t.Context()); !errors.Is(err, part.ErrClosed) {
		t.Error(err)
	}
}

// A part that cannot start leaves nothing running, and its own reason counts.
func TestFailedStart(t *testing.T) {
	r := newRig()
	broken := errors.New("disk")
	bad := part.Part{Name: "b", Start: func(_ context.Context, u *part.Uses) (part.Running, error) {
		u.Fail(broken)
		return part.Running{}, ask.ErrStopped
	}}
	if _, err := part.Open(t.Context(), []part.Part{r.part("a"), bad, r.part("c")}); !errors.Is(err, broken) ||
		errors.Is(err, ask.ErrStopped) {
		t.Error(err)
	}
	if want := []string{"start a", "stop a", "close a"}; !slices.Equal(r.log, want) {
		t.Error(r.log)
	}
}

// The first cause ends the program, be it a part's own or the end of its actor.
func TestFailure(t *testing.T) {
	r := newRig()
	set, err := part.Open(t.Context(), []part.Part{r.part("x"), r.part("y")})
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := set.Wait(ended); err != nil {
		t.Errorf("nothing has failed: %v", err)
	}
	if err := set.Err(); err != nil {
		t.Error(err)
	}
	r.system.Root.Stop(set.Ref("x").PID())
	if err := set.Wait(t.Context()); err == nil || err.Error() != "x stopped" {
		t.Error(err)
	}
	<-set.Ended()
	if err := set.Err(); !errors.Is(err, part.ErrClosed) || err.Error() != "closed: x stopped" {
		t.Error(err)
	}
	if err := set.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// Close returns the errors of parts that could not give something back or write
// it down.
func TestCloseTellsAll(t *testing.T) {
	r := newRig()
	disk, lost := errors.New("disk"), errors.New("lost")
	p := r.part("a")
	start := p.Start
	p.Start = func(ctx context.Context, u *part.Uses) (part.Running, error) {
		running, err := start(ctx, u)
		running.Close = func() error { u.Unsaved(lost); return disk }
		return running, err
	}
	set, err := part.Open(t.Context(), []part.Part{p})
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Close(t.Context()); !errors.Is(err, disk) || !errors.Is(err, lost) {
		t.Error(err)
	}
}

// Later parts are absent until they have started.
func TestLater(t *testing.T) {
	r := newRig()
	var later func() *ask.Ref
	early := part.Part{Name: "a", Later: []string{
		"b",
	}, Start: func(_ context.Context, u *part.Uses) (part.Running, error) {
		later = u.LaterRef("b")
		if !later().IsAbsent() {
			t.Error("b is there before it has started")
		}
		return part.Running{}, nil
	}}
	set, err := part.Open(t.Context(), []part.Part{early, r.part("b")})
	if err != nil {
		t.Fatal(err)
	}
	if later().IsAbsent() {
		t.Error("b is absent")
	}
	if err := set.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestUndeclaredUse(t *testing.T) {
	r := newRig()
	p := r.part("b", "a")
	p.Needs = nil
	defer func() {
		if recover() == nil {
			t.Error("b took a, which its row does not name")
		}
	}()
	_, _ = part.Open(t.Context(), []part.Part{r.part("a"), p})
}

func TestUntaken(t *testing.T) {
	r := newRig()
	p := r.part("b")
	p.Needs = []string{"a"}
	table := []part.Part{r.part("a"), p}
	set, err := part.Open(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	if list := set.Untaken(table); !slices.Equal(list, []string{"b a"}) {
		t.Error(list)
	}
	if err := set.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	tests := []struct {
		name  string
		table []part.Part
		want  string
	}{
		{"right", []part.Part{{Name: "a", Later: []string{"b"}}, {Name: "b", Needs: []string{"a"}}}, ""},
		{"duplicate", []part.Part{{Name: "a"}, {Name: "a"}}, "two parts are called a"},
		{"needs one below", []part.Part{{Name: "a", Needs: []string{"b"}}, {Name: "b"}}, "part a needs b, which is not above it"},
		{"needs itself", []part.Part{{Name: "a", Needs: []string{"a"}}}, "part a needs a, which is not above it"},
		{"later above", []part.Part{{Name: "a"}, {Name: "b", Later: []string{"a"}}}, "part b uses a later, which is not below it"},
		{"unknown", []part.Part{{Name: "a", Later: []string{"x"}}}, "part a uses x later, which is not below it"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := ""
			if err := part.Check(test.table); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if test.want == "" {
				return
			}
			if _, err := part.Open(t.Context(), test.table); err == nil || err.Error() != test.want {
				t.Errorf("Open: %v", err)
			}
		})
	}
	if text := part.Text([]part.Part{{Name: "a", Later: []string{
		"b",
	}}, {Name: "b", Needs: []string{"a", "x"}}}); text != "| a |  | b |\n| b | a, x |  |\n" {
		t.Error(text)
	}
}
