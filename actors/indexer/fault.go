package indexer

import (
	"fmt"
	"runtime/debug"
	"sync"
)

// firstError keeps the first thing that goes wrong in a group of goroutines.
type firstError struct {
	mu    sync.Mutex
	err   error
	panic any
}

func (f *firstError) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

func (f *firstError) failed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err != nil
}

// recover is deferred by each goroutine: its panic becomes one of the goroutine
// that calls get, so that it reaches the actor.
func (f *firstError) recover() {
	if p := recover(); p != nil {
		f.set(fmt.Errorf("panic: %v", p))
		f.mu.Lock()
		f.panic = fmt.Sprintf("%v\n%s", p, debug.Stack())
		f.mu.Unlock()
	}
}

func (f *firstError) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.panic != nil {
		panic(f.panic)
	}
	return f.err
}
