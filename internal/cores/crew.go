package cores

// Spread runs work in a goroutine, like the go statement, but one that begins at
// once on a core other than the caller's, where one of the crew is free. A thread
// that Go wakes may lie in wait behind the very one that woke it, for as long as
// that computes: up to milliseconds, in which a core stands idle.
//
// A panic of work ends the program, as in any goroutine. It is safe for concurrent
// use. A nil crew has nobody, and neither has one that was closed.
func (c *Crew) Spread(work func()) {
	if !c.take(work) {
		go work()
	}
}
