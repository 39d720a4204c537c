package cores

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// Everything is done once, whatever the shares and however goroutines start.
func TestDoIn(t *testing.T) {
	late := func(work func()) { go func() { runtime.Gosched(); work() }() }
	for _, n := range []int{-1, 0, 1, 2, 63, 64, 65, 1000} {
		for _, share := range []int{0, 1, 7, 64, 5000} {
			for _, start := range []Start{nil, late} {
				done := make([]atomic.Int32, max(n, 0))
				err := DoIn(t.Context(), start, n, share, func(from, to int) error {
					if to-from > max(1, share) || from >= to {
						t.Errorf("range from %d to %d", from, to)
					}
					for i := from; i < to; i++ {
						done[i].Add(1)
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				for i := range done {
					if got := done[i].Load(); got != 1 {
						t.Fatalf("%d of %d, %d at a time: done %d times", i, n, share, got)
					}
				}
			}
		}
	}
}

// Waiting work is begun as often as is allowed, whatever the number of cores.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct{ most, n, share, want int }{{40, 1000, 3, 40}, {40, 9, 3, 3}, {1, 9, 3, 1}} {
			var working atomic.Int32
			release, ended := make(chan struct{}), make(chan error)
			go func() {
				ended <- Wait(t.Context(), test.most, test.n, test.share, func(int, int) error {
					working.Add(1)
					<-release
					return nil
				})
			}()
			synctest.Wait()
			if got := int(working.Load()); got != test.want {
				t.Errorf("%+v: %d at a time", test, got)
			}
			close(release)
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

// As many work at a time as there are cores, no more.
func TestDoAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var working atomic.Int32
		release := make(chan struct{})
		ended := make(chan error)
		go func() {
			ended <- Do(t.Context(), 10*Count(), func(int) error {
				working.Add(1)
				<-release
				return nil
			})
		}()
		synctest.Wait()
		if got := int(working.Load()); got != Count() {
			t.Errorf("%d at a time, want %d", got, Count())
		}
		close(release)
		if err := <-ended; err != nil || int(working.Load()) != 10*Count() {
			t.Errorf("%v after %d", err, working.Load())
		}
	})
}

// The error is that of the lowest number that fails, although a later one failed
// before it; what was begun is waited for, and little is begun afterwards.
func TestDoFails(t *testing.T) {
	const first = 3
	var begun, running atomic.Int32
	later := make(chan struct{})
	var once sync.Once
	err := Do(t.Context(), 1000, func(i int) error {
		begun.Add(1)
		running.Add(1)
		defer running.Add(-1)
		switch {
		case i == first && Count() > 1:
			<-later
			return fmt.Errorf("number %d", i)
		case i >= first:
			defer once.Do(func() { close(later) })
			return fmt.Errorf("number %d", i)
		}
		return nil
	})
	if err == nil || err.Error() != "number 3" {
		t.Errorf("got %v", err)
	}
	if running.Load() != 0 || int(begun.Load()) > first+2*Count() {
		t.Errorf("%d running, %d begun", running.Load(), begun.Load())
	}
}

// When the context ends nothing more is begun, and its cause is the error. There is
// no error if everything was begun by then.
func TestDoContext(t *testing.T) {
	why := errors.New("enough")
	ctx, end := context.WithCancelCause(t.Context())
	var begun atomic.Int32
	err := Do(ctx, 1000, func(i int) error {
		begun.Add(1)
		if i == 5 {
			end(why)
		}
		return nil
	})
	if !errors.Is(err, why) {
		t.Errorf("%v after %d", err, begun.Load())
	}
	ctx, end = context.WithCancelCause(t.Context())
	if err := Do(ctx, 1, func(int) error { end(why); return nil }); err != nil {
		t.Errorf("all was done, and yet %v", err)
	}
	if err := Do(ctx, 1, func(int) error { return nil }); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

// A panic reaches the caller with the stack of where it happened, through a Do
// within a Do as well.
func TestDoPanics(t *testing.T) {
	for _, test := range []struct {
		name string
		work func(i int) error
	}{
		{"panic", clumsy},
		{"in another", func(i int) error { return Do(context.Background(), 4, func(int) error { return clumsy(i) }) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer func() {
				p, ok := recover().(*Panic)
				if !ok || p.Value != "clumsy" || !strings.Contains(p.Stack, "cores.clumsy") {
					t.Errorf("got %v", p)
				}
				if strings.Count(p.Error(), "[running]") != 1 {
					t.Errorf("not one stack: %v", p)
				}
			}()
			_ = Do(t.Context(), 100, test.work)
			t.Error("no panic")
		})
	}
}

func clumsy(i int) error {
	if i == 7 {
		panic("clumsy")
	}
	return nil
}

func TestCatch(t *testing.T) {
	why := errors.New("why")
	if err := Catch(func() error { return why }); !errors.Is(err, why) {
		t.Error(err)
	}
	var p *Panic
	if err := Catch(func() error { panic(why) }); !errors.As(err, &p) || !errors.Is(err, why) {
		t.Error(err)
	}
	if err := Catch(func() error { return nil }); err != nil {
		t.Error(err)
	}
}
