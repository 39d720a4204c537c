package cores

// Start runs work in a goroutine, like the go statement, but one that begins at
// once on a core other than the caller's, where one of the threads is free. A thread
// that Go wakes may lie in wait behind the very one that woke it, for as long as
// that computes: up to milliseconds, in which a core stands idle.
//
// A panic of work ends the program, as in any goroutine. It is safe for concurrent
// use. Nil has no threads, and neither has one that was closed.
func (t *WorkerThreads) Start(work func()) {
	if !t.take(work) {
		go work()
	}
}
