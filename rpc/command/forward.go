package command

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// A Login is what a caller may call whose login another node vouches for.
type Login interface {
	// Limited reports whether there are methods that are refused.
	Limited() bool
	// Any reports whether the caller may call any method.
	Any() bool
	// Allows reports whether a method may be called.
	Allows(method string) bool
}

// A Forwarder has calls answered by another node.
type Forwarder interface {
	// Forwards reports whether a call is for the other node, although the table may
	// have the method (known). An error refuses the call.
	Forwards(caller Caller, method string, known bool) (bool, error)
	// Forward has a call answered. params is null, an array or an object, and is not
	// kept. The result is for jsontree.Append.
	Forward(ctx context.Context, caller Caller, method string, params *jsontree.Value) (any, error)
	// Own has run answer a call of this node's own, once or more, and may change the
	// answer. params is as in Forward.
	Own(
		ctx context.Context, caller Caller, method string, params *jsontree.Value, run func() (any, error),
	) (any, error)
	// Public reports whether neither arguments nor result of a method hold secrets,
	// and its name may stand in a log.
	Public(method string) bool
}

// A Refused is the HTTP status with which another node refuses a request.
type Refused int

// Error implements error.
func (r Refused) Error() string {
	return "the other node refuses the call: " + http.StatusText(int(r))
}

// InBatch returns the error for a request of a batch, which has no status of its own.
func (r Refused) InBatch() Error {
	return Error{MiscError, fmt.Sprintf("Bitcoin Core refuses this call (HTTP status %d)", int(r))}
}

// Forward has the calls answered by f that f wants. Call it before the table is used.
func (t *Table) Forward(f Forwarder) *Table {
	t.forwarder = f
	return t
}

// someMethod stands for the name of a method that nobody here knows: it may be anything,
// a key too.
const someMethod = "(forwarded)"

// KnownName returns the name of a method that the table has, or that is public in the other
// node; else an empty text, because the name may be anything.
func (t *Table) KnownName(method string) string {
	if c, ok := t.byName[method]; ok {
		return c.Name
	}
	if t.forwarder != nil && t.forwarder.Public(method) {
		return strings.Clone(method) // that of the request may be overwritten
	}
	return ""
}

// forwardedCall is a call that another node answers. It takes no worker, for it only
// waits, and ends with the client.
func (t *Table) forwardedCall(caller Caller, method string, params *jsontree.Value) *Call {
	public := t.forwarder.Public(method)
	c := &Command{
		Name:    someMethod,
		Params:  []Param{{Name: "params", AnyType: true, Secret: !public}},
		Results: []Result{{Type: Any, Secret: !public}},
		Waits:   func(*Args) bool { return true },
		Run: func(ctx context.Context, a *Args) (any, error) {
			return t.forwarder.Forward(ctx, caller, method, a.Value(0))
		},
	}
	if _, known := t.byName[method]; known || public {
		c.Name = method
	}
	args := &Args{User: caller.User, WalletPath: caller.WalletPath, Table: t, values: []*jsontree.Value{params}}
	return &Call{command: c, args: args, forwarded: true}
}
