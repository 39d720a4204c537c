package rpc

import (
	"context"
	"net/http"

	"github.com/seed61375155/trawl/rpc/command"
)

// Logins judges the values of Authorization headers that are none of the server's own.
type Logins interface {
	// Known returns the login that a value is known to prove, nil when it is not. It
	// tells nobody else of a value that may be a guess.
	Known(ctx context.Context, authorization string) command.Login
	// Ask has another node judge a value, nil when it is wrong. The error says that
	// nobody can judge it now. It is called at the pace of wrong logins.
	Ask(ctx context.Context, authorization string) (command.Login, error)
}

// cannotJudge answers a login that may be right, which nobody can tell now.
var cannotJudge = response{
	status: http.StatusServiceUnavailable,
	body:   text("The node that knows this login does not answer"),
}
