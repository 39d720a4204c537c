// Package clock is the time of a node, which a test of the node may set.
package clock

import (
	"sync"
	"sync/atomic"
	"time"
)

// A Clock tells the real time until it is set, and a fixed time from then on.
// The zero value tells the real time. It is safe for concurrent use.
type Clock struct {
	mock atomic.Int64 // seconds since 1970; 0: not set

	mu    sync.Mutex
	onSet []func()
}

// At returns a clock that is set to t; to nothing by the zero time.
func At(t time.Time) *Clock {
	c := new(Clock)
	c.Set(t)
	return c
}

// OnSet has f called whenever the clock was set. It must not wait.
func (c *Clock) OnSet(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.onSet = append(c.onSet, f)
}

// Now returns the time.
func (c *Clock) Now() time.Time {
	if sec := c.mock.Load(); sec != 0 {
		return time.Unix(sec, 0)
	}
	return time.Now()
}

// Set makes t the time, to the second. The zero time returns to the real one.
func (c *Clock) Set(t time.Time) {
	sec := int64(0)
	if !t.IsZero() {
		sec = t.Unix()
	}
	c.mock.Store(sec)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.onSet {
		f()
	}
}
