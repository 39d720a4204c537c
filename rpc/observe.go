package rpc

import "time"

// An Observer is notified of what a server does, by the goroutine that does it.
type Observer interface {
	// Called reports a request that was answered: its method, how long that took without
	// the wait for a worker, and whether it failed. The method is empty where its name may
	// be anything: neither the table has it, nor is it public in the node that calls are
	// passed on to.
	Called(method string, took time.Duration, failed bool)

	// Replied reports an HTTP reply.
	Replied(status int)
}

// nobody observes nothing.
type nobody struct{}

// Called implements [Observer].
func (nobody) Called(string, time.Duration, bool) {}

// Replied implements [Observer].
func (nobody) Replied(int) {}

// observe reports a job that began to be answered at a time.
func observe(s *Server, j *job, began time.Time, failed bool) {
	name := ""
	if table := s.state.Load().table; table != nil {
		name = table.KnownName(j.method)
	}
	s.observer.Called(name, time.Since(began), failed)
}

// Load is what a server is busy with at a moment.
type Load struct {
	Running int // calls that have a worker
	Queued  int // calls that wait for one
	Waiting int // calls that wait for something to happen, without a worker
	Conns   int // open connections
	Streams int // of events
}

// LoadOf returns what a server is busy with.
func LoadOf(s *Server) Load {
	return Load{
		Running: len(s.workers.running), Queued: len(s.workers.waiting), Waiting: len(s.workers.idle),
		Conns: s.conns.len(), Streams: s.Streams.len(),
	}
}
