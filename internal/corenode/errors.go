package corenode

import (
	"errors"
	"fmt"
)

// Errors of calls. More than one may be found in an error.
var (
	// ErrAway reports that Core does not answer now, and may later: nobody listens, it is busy,
	// it starts or stops, its cookie is missing or refused.
	ErrAway = errors.New("Bitcoin Core does not answer") //nolint:staticcheck // a name
	// ErrLogin reports that the login is refused, missing, or in an unreadable file; the text
	// says which. It comes with ErrAway, for a cookie may be written any time.
	ErrLogin = errors.New("it refuses the login")
	// ErrForbidden reports a method that Core's whitelist keeps from this login.
	ErrForbidden = errors.New("Bitcoin Core does not allow this login to call it") //nolint:staticcheck // a name
	// ErrNoREST reports that Core does not serve the path: -rest is off, or this
	// version knows it not.
	ErrNoREST = errors.New("Bitcoin Core does not serve this by REST") //nolint:staticcheck // a name
	// ErrReply reports an answer that is none of Core's.
	ErrReply = errors.New("the reply is none of Bitcoin Core's")
	// ErrTooLarge reports a reply that is larger than those of a Core, or than [MaxReply].
	ErrTooLarge = fmt.Errorf("%w: it is too large", ErrReply)
)

// Codes of Core that say that it starts or stops.
const (
	codeStopping = -9
	codeWarmup   = -28
)

// An Error is what Core answers a call with. Its text may repeat arguments of the call.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Is reports whether the error says that Core is away.
func (e *Error) Is(target error) bool {
	return target == ErrAway && (e.Code == codeWarmup || e.Code == codeStopping)
}

// away returns an error with ErrAway.
func away(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrAway, fmt.Errorf(format, args...))
}
