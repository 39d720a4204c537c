package rpc

import (
	"net/http"
	"sync"

	"github.com/seed61375155/trawl/rpc/command"
)

// tooBusy answers when no more calls may wait.
var tooBusy = response{status: http.StatusServiceUnavailable, body: text("Work queue depth exceeded")}

// errTooBusy is the same for a request of a batch.
var errTooBusy = command.Error{Code: command.OutOfMemory, Message: "Work queue depth exceeded"}

// workers bounds how many calls run at a time and how many wait for that; and,
// apart from those, how many do nothing but wait for something. Calls in the
// control lane do not come here.
type workers struct {
	running chan struct{} // one element for each call that runs
	waiting chan struct{} // one element for each call that waits
	idle    chan struct{} // one element for each call that waits for something
	closing chan struct{}
	once    sync.Once
}

// mostWorkers is more than anybody has, and small enough to be added up.
const mostWorkers = 1 << 30

func newWorkers(threads, queue int) *workers {
	threads, queue = min(max(threads, 1), mostWorkers), min(max(queue, 1), mostWorkers)
	return &workers{
		running: make(chan struct{}, threads),
		waiting: make(chan struct{}, queue),
		idle:    make(chan struct{}, threads+queue),
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

// A held worker is that of a call. It belongs to the goroutine of the call.
type heldWorker struct {
	of     *workers
	waited bool // it was given back: the call has a place among those that wait
}

// release gives the worker back, if as many calls do not wait as may.
func (h *heldWorker) release() {
	if !h.waited && h.of.wait() {
		h.of.leave()
		h.waited = true
	}
}

// end ends the call.
func (h *heldWorker) end() {
	if h.waited {
		h.of.waited()
		return
	}
	h.of.leave()
}

// wait takes a place among the calls that wait for something. It is false when
// there are as many as could run and wait otherwise; else waited must follow.
func (w *workers) wait() bool {
	select {
	case w.idle <- struct{}{}:
		return true
	default:
		return false
	}
}

func (w *workers) waited() { <-w.idle }

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
