package cores

// Start runs work in a goroutine, like the go statement. If a thread of another core
// than the caller's is free, the work begins there at once. A thread that Go wakes
// may be queued on the same core behind the thread that woke it. It then waits for
// this thread's computation, up to milliseconds, while another core stands idle.
//
// A panic of work ends the program, as in any goroutine. It is safe for concurrent
// use. WorkerThreads that are nil or closed have no threads.
func (t *WorkerThreads) Start(work func()) {
	if !t.take(work) {
		go work()
	}
}
