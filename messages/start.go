package messages

// A StartError is a reason not to start, in Core's words and meant for the operator.
type StartError string

// Error implements error.
func (e StartError) Error() string { return string(e) }

// As has errors.As find the error as a pointer, too.
func (e StartError) As(target any) bool {
	p, ok := target.(**StartError)
	if ok {
		*p = &e
	}
	return ok
}

// A FatalError is why a node that runs cannot go on. Its text is Core's and says little: what
// happened is in the log.
type FatalError struct {
	Summary string // a sentence
	Err     error
}

// Error implements error.
func (e *FatalError) Error() string {
	return "A fatal internal error occurred, see debug.log for details: " + e.Summary
}

// Unwrap returns what happened.
func (e *FatalError) Unwrap() error { return e.Err }

// StartChecks says which checks of [VerifyChain] are made when the chain is opened.
type StartChecks struct {
	Level  int
	Blocks int32 // 0 or less: all
	Full   bool  // refuse to start where the memory for unspent outputs does not suffice

	// Begun is called when that begins, from any goroutine; nil: nobody is told.
	Begun func()
}
