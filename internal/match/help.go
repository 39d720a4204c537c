package match

import "github.com/seed61375155/trawl/messages"

// LeaseHeights has its receiver lease heights of a pass to other nodes. It is answered when all
// are matched, or with the reason for which the pass must fail. Heights whose leases are not finished
// are given back before the answer.
type LeaseHeights struct {
	messages.Control[messages.Done]

	Pass *Pass
}

// KeepError is why a pass whose heights are leased must fail: Keep's error about a hit of another node.
type KeepError struct{ Err error }

// Error implements error.
func (e *KeepError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *KeepError) Unwrap() error { return e.Err }

// EndLeases ends what [LeaseHeights] began. It is answered when everything is given back.
type EndLeases struct {
	messages.Control[messages.Done]

	Pass *Pass
}
