package p2p

import "sync"

// credit is what the owner still takes, in messages and bytes.
type credit struct {
	mu       sync.Mutex
	messages int
	limit    int   // bytes that the owner may have
	bytes    int   // bytes that it has
	sizes    []int // of the messages that it has, oldest first
	changed  chan struct{}
}

func newCredit(limit int) *credit {
	return &credit{limit: limit, changed: make(chan struct{}, 1)}
}

// add grants n messages and forgets the n oldest.
func (c *credit) add(n int) {
	c.mu.Lock()
	c.messages += n
	done := min(n, len(c.sizes))
	for _, size := range c.sizes[:done] {
		c.bytes -= size
	}
	c.sizes = c.sizes[done:]
	c.mu.Unlock()
	notify(c.changed)
}

// take counts a message that the owner gets.
func (c *credit) take(size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.messages--
	c.bytes += size
	c.sizes = append(c.sizes, size)
}

// is reports whether there is any.
func (c *credit) is() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.messages > 0 && c.bytes <= c.limit
}

// notify wakes the receiver of a channel with room for one signal.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
