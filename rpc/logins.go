package rpc

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/seed61375155/trawl/internal/corenode/access"
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

// An otherNode is another node that judges logins; without one there are no others.
type otherNode struct {
	logins  Logins
	guesses *guesses
}

// known returns the login of a header that the other node is known to accept.
func (e otherNode) known(ctx context.Context, authorization string, from netip.Prefix, full bool) command.Login {
	user, _, ok := access.Decode(authorization)
	if e.logins == nil || !ok || full && !e.guesses.trusts(user, from) {
		return nil
	}
	login := e.logins.Known(ctx, authorization)
	if login != nil {
		e.guesses.remember(user, from)
	}
	return login
}

// ask has the other node judge a header that has waited for its turn.
func (e otherNode) ask(ctx context.Context, authorization string, from netip.Prefix) (command.Login, error) {
	user, _, ok := access.Decode(authorization)
	if e.logins == nil || !ok {
		return nil, nil //nolint:nilnil // wrong, and nobody to ask
	}
	login, err := e.logins.Ask(ctx, authorization)
	if login != nil {
		e.guesses.remember(user, from)
	}
	return login, err
}

// pause waits for a time, or until the server ends.
func pause(server context.Context, wait time.Duration) {
	delay := time.NewTimer(wait)
	defer delay.Stop()
	select {
	case <-delay.C:
	case <-server.Done():
	}
}
