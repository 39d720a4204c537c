package rpc

import (
	"sync"
	"time"
)

// noticeEvery is how often a notice is written at most.
const noticeEvery = 10 * time.Second

// A notice is a line of the log about what clients can bring about as often as they like.
type notice struct {
	mu     sync.Mutex
	at     time.Time // it was written last
	missed int       // since then
}

// due reports whether to write the line now, and how often it was not written since the last time.
func (n *notice) due() (missed int, due bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := time.Now()
	if !n.at.IsZero() && now.Sub(n.at) < noticeEvery {
		n.missed++
		return 0, false
	}
	missed, n.missed, n.at = n.missed, 0, now
	return missed, true
}
