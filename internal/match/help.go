package match

import "github.com/seed61375155/trawl/messages"

// LendHeights has its receiver lend heights of a pass to other nodes. It is answered when all
// are matched, or with the reason for which the pass must fail. Heights that are lent and not
// settled are given back before the answer.
type LendHeights struct {
	messages.Control[messages.Done]

	Pass *Pass
}

// KeepError is why a pass that is lent from must fail: Keep's error about a hit of another node.
type KeepError struct{ Err error }

// Error implements error.
func (e *KeepError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *KeepError) Unwrap() error { return e.Err }

// EndLending ends what [LendHeights] began. It is answered when everything is given back.
type EndLending struct {
	messages.Control[messages.Done]

	Pass *Pass
}
