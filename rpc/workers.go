package rpc

import (
	"net/http"
	"sync"
)

// tooBusy answers when no more calls may wait.
var tooBusy = response{status: http.StatusServiceUnavailable, body: text("Work queue depth exceeded")}

// workers bounds how many calls run at a time and how many wait for that.
// Calls in the control lane do not come here.
type workers struct {
	running chan struct{} // one element for each call that runs
	waiting chan struct{} // one element for each call that waits
	closing chan struct{}
	once    sync.Once
}

func newWorkers(threads, queue int) *workers {
	return &workers{
		running: make(chan struct{}, max(threads, 1)),
		waiting: make(chan struct{}, max(queue, 1)),
		closing: make(chan struct{}),
	}
}

// enter waits for a worker. It is false when the queue is full or the server
// closes; otherwise leave must follow.
func (w *workers) enter() bool {
	select {
	case w.running <- struct{}{}:
		return true
	default:
	}
	select {
	case w.waiting <- struct{}{}:
		defer func() { <-w.waiting }()
	default:
		return false
	}
	select {
	case w.running <- struct{}{}:
		return true
	case <-w.closing:
		return false
	}
}

func (w *workers) leave() { <-w.running }

// pause runs f without the worker that the caller has, and waits for one again
// then, before all that wait in the queue. It returns false when the server
// closes before there is one: the caller has none then.
func (w *workers) pause(f func()) bool {
	w.leave()
	f()
	select {
	case w.running <- struct{}{}:
		return true
	case <-w.closing:
		return false
	}
}

// close ends all waiting.
func (w *workers) close() { w.once.Do(func() { close(w.closing) }) }
