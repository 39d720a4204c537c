package corenode

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// pingTime is how long a Core may take to answer the simplest question before it counts as
// silent.
const pingTime = 3 * time.Second

// health is whether Core answers, as far as calls have shown.
type health struct {
	lost    atomic.Int64
	silent  atomic.Int64 // Unix time in ns of the call that had no answer in time; 0: Core answers
	pinging atomic.Bool
	heard   atomic.Int64 // Unix time in ns of the last reply
	hang    hang
	full    atomic.Int64 // Unix time in ns when Core had more calls than it takes; 0: never
}

// fullTime is how long a Core is spared a call that occupies one of its threads, after it has had
// more calls than it takes.
const fullTime = time.Minute

// noteStatus notes the status of a reply.
func (h *health) noteStatus(status int) {
	h.heard.Store(time.Now().UnixNano())
	h.answered()
	if status == http.StatusServiceUnavailable {
		h.full.Store(time.Now().UnixNano())
	}
}

func (h *health) isFull() bool {
	at := h.full.Load()
	return at != 0 && time.Since(time.Unix(0, at)) < fullTime
}

// Lost returns how often the connection to Core was lost, or its login was another: a number that
// has changed says that another Core may be there, with another configuration.
func (h *health) Lost() int64 { return h.lost.Load() }

func (h *health) lose() { h.lost.Add(1) }

// Silent reports whether Core has had nothing to say since a call that it did not answer in time,
// and when that was sent.
func (h *health) Silent() (since time.Time, silent bool) {
	at := h.silent.Load()
	return time.Unix(0, at), at != 0
}

func (h *health) answered() {
	if h.silent.Load() != 0 {
		h.silent.Store(0)
		h.hang.set(false)
	}
}

func (h *health) unanswered(began time.Time) {
	h.lose()
	h.silent.CompareAndSwap(0, began.UnixNano())
}

// Ping asks Core whether it is there, for a caller that waits for an answer longer than usual:
// [Client.Silent] knows then. It returns at once while another Ping asks.
func (c *Client) Ping(ctx context.Context) {
	if !c.pinging.CompareAndSwap(false, true) {
		return
	}
	defer c.pinging.Store(false)
	ctx, cancel := c.limit(ctx, pingTime)
	defer cancel()
	_, _ = c.BestBlock(ctx) // what is learned is noted
}
