package actortest

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// strange is what no actor serves.
type strange struct{ messages.Asks[int] }

// unhandled asks what the actor does not know.
func unhandled(r *run) {
	r.t.Helper()
	if _, err := ask.Ask(context.Background(), r.Ref, strange{}); !errors.Is(err, ask.ErrUnhandled) ||
		!strings.Contains(err.Error(), "strange") {
		r.t.Errorf("Ask: %v", err)
	}
	c := r.request(strange{})
	r.plain = append(r.plain, c)
	<-c.answered
	if err, ok := c.first.(error); !ok || !errors.Is(err, ask.ErrUnhandled) ||
		!strings.Contains(err.Error(), "strange") {
		r.t.Errorf("plain request: %v", c.first)
	}
	r.Check()
	r.stop()
}

// callersGone lets callers leave, before they are heard and later.
func callersGone(r *run) {
	r.t.Helper()
	for _, q := range r.Requests {
		ctx, leave := context.WithCancel(context.Background())
		leave()
		if err := q.by(ctx, r.Ref, r); err != nil && !errors.Is(err, context.Canceled) && q.ask != nil {
			r.t.Errorf("%T, the caller has left: %v", q.message, err)
		}
	}
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	for _, q := range r.Requests {
		for range 3 {
			r.callers.Go(func() { _ = q.by(ctx, r.Ref, r) })
		}
	}
	for range r.rng.IntN(100) {
		runtime.Gosched()
	}
	leave()
	r.callers.Wait()
	time.Sleep(time.Second)
	synctest.Wait()
	r.Check()
	r.stop()
}
