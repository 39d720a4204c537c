package chaindb

import "sync"

// A gate lets users in until it is closed, and closing waits for them to leave.
// A sync.RWMutex would not do: a second reading transaction of a goroutine
// would wait for the closer, and the closer for the first.
type gate struct {
	mu     sync.Mutex
	empty  *sync.Cond
	inside int
	closed bool
}

func (g *gate) init() { g.empty = sync.NewCond(&g.mu) }

// enter is [ErrClosed] once close was called; otherwise leave must follow.
func (g *gate) enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return ErrClosed
	}
	g.inside++
	return nil
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside--; g.inside == 0 {
		g.empty.Broadcast()
	}
}

// close shuts the gate and waits; false when it was shut before.
func (g *gate) close() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.closed = true
	for g.inside > 0 {
		g.empty.Wait()
	}
	return true
}
