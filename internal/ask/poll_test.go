package ask_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/ask"
)

// However many readers ask, one read runs at a time, and no reader waits longer than it wants.
func TestPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s ask.Poll[int]
		reads := 0
		begin := func() func(context.Context) (int, error) {
			return s.Begin(func() (int, error) {
				reads++
				time.Sleep(time.Hour)
				return reads, nil
			})
		}
		for range 100 {
			wait := begin()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			cancel()
		}
		for _, want := range []int{1, 2} { // the second read begins after the first has ended
			if got, err := begin()(t.Context()); got != want || err != nil {
				t.Errorf("got %d, %v, want read %d", got, err, want)
			}
		}
		failed := s.Begin(func() (int, error) { panic("boom") })
		if _, err := failed(t.Context()); err == nil {
			t.Error("a panic is an answer")
		}
	})
}
