package ask

import (
	"context"
	"fmt"
	"sync"
)

// A Poll reads the same value again and again for many readers. At most one read runs at a
// time, and all readers that ask meanwhile share its answer, so requests to a busy actor
// do not pile up in its mailbox. The zero value is ready; a Poll is safe for concurrent use.
type Poll[R any] struct {
	mu      sync.Mutex
	current *polled[R] // nil: nothing is being read
}

// polled is what is being read.
type polled[R any] struct {
	done chan struct{} // closed when val and err are there
	val  R
	err  error
}

// Begin starts a read, or joins the read that runs. The function that it returns waits for the
// answer until ctx ends; the read goes on then.
func (p *Poll[R]) Begin(read func() (R, error)) func(ctx context.Context) (R, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	run := p.current
	if run == nil {
		run = &polled[R]{done: make(chan struct{})}
		p.current = run
		go p.read(run, read)
	}
	return run.wait
}

func (p *Poll[R]) read(run *polled[R], read func() (R, error)) {
	defer func() {
		if v := recover(); v != nil {
			run.err = fmt.Errorf("panic: %v", v)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.current = nil
		close(run.done)
	}()
	run.val, run.err = read()
}

func (run *polled[R]) wait(ctx context.Context) (R, error) {
	select {
	case <-run.done:
		return run.val, run.err
	case <-ctx.Done():
		var zero R
		return zero, context.Cause(ctx)
	}
}
