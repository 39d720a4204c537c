package forward

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync/atomic"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// Config is what a [Forwarder] needs.
type Config struct {
	Core *corenode.Client
	// Configured is what Core's configuration says, nil where it cannot be read: then
	// its whitelists are not known.
	Configured *corenode.Configured
	// Reread reads that configuration again; nil: it cannot be.
	Reread func() (corenode.Configured, error)
	Mode   Mode
	// ServeFew leaves all but scans, filters and the like to Core.
	ServeFew bool
	// OwnWallet reports whether a wallet of this node has the name, or, for nil, whether
	// any is loaded; nil: the node has no wallets.
	OwnWallet func(name *string) bool
	// Follow returns when the node has followed Core to its tip, or reports that it cannot.
	// It is called after each method that may have moved that, and before the node
	// answers what depends on it. nil: there is nothing to do.
	Follow func(context.Context) error
	// Known returns why the chain of Core is not known: it was not followed yet, and there is
	// nothing of it here. nil: it always is.
	Known func(context.Context) error
	// FollowPool is like Follow, for the copy of Core's pool, if there are wallets that use the
	// copy.
	FollowPool func(context.Context) error
	// NameUnknown is called with a wallet that comes here while Core cannot be asked whether it
	// has one of that name; nil: nobody is.
	NameUnknown func(name string, err error)
}

// A Forwarder passes calls on. It implements command.Forwarder and, by
// [Forwarder.Logins], rpc.Logins. It is safe for concurrent use.
type Forwarder struct {
	Config
	logins *logins
	own    atomic.Pointer[command.Table] // methods of the node
	failed atomic.Int64                  // when following Core took too long, in nanoseconds since 1970
}

// New returns a forwarder.
func New(c Config) *Forwarder {
	f := &Forwarder{Config: c}
	f.own.Store(new(command.Table))
	f.logins = newLogins(&f.Config, f.factsOf, f.mayPass)
	return f
}

// Reload reads the configuration of Core again, and has it asked about every login. After an error
// the configuration is what it was.
func (f *Forwarder) Reload() error { return f.logins.reload() }

// Serve has the calls of a table passed on that are Core's.
func (f *Forwarder) Serve(t *command.Table) *command.Table {
	f.own.Store(t)
	return t.Forward(f)
}

// unknown stands for a method that the node does not have: it is Core's, and may do anything.
var unknown = new(command.Command)

// factsOf returns what is known of a method.
func (f *Forwarder) factsOf(method string) *command.Command {
	if c := f.own.Load().Lookup(method); c != nil {
		return c
	}
	if c := theirs[method]; c != nil {
		return c
	}
	return unknown
}

// Logins returns what judges the logins of Core's users.
func (f *Forwarder) Logins() interface {
	Known(ctx context.Context, authorization string) command.Login
	Ask(ctx context.Context, authorization string) (command.Login, error)
} {
	return f.logins
}

// answersAlways reports whether the node answers a method, whatever wallets there are: its own
// ones, those about the program, and those about its wallets as a whole.
func (f *Forwarder) answersAlways(c *command.Command) bool {
	return c.Own || c.About == command.Program || c.About == command.Registry && f.OwnWallet != nil
}

// isCores reports whether Core answers a method of the node, if the method is about no wallet of
// the node.
func (f *Forwarder) isCores(c *command.Command) bool {
	if f.ServeFew {
		return c.About != command.Filters
	}
	return c.About == command.State
}

// isWallet reports whether a method is about wallets of this node.
func (f *Forwarder) isWallet(c *command.Command) bool { return f.OwnWallet != nil && c.OfWallet() }

// mayPass reports whether Core answers a method, if the wallet that the call is about is
// none of this node's.
func (f *Forwarder) mayPass(method string) bool {
	c := f.factsOf(method)
	return !f.answersAlways(c) && (c == unknown || f.isWallet(c) || f.isCores(c))
}

// Forwards implements command.Forwarder.
func (f *Forwarder) Forwards(caller command.Caller, method string, known bool) (bool, error) {
	c := f.factsOf(method)
	login, fromCore := caller.Login.(coreLogin)
	if f.keeps(caller, c, known) {
		if fromCore && f.isWallet(c) && !login.rights().mayUseWallets() {
			return false, command.Refused(http.StatusForbidden)
		}
		return false, nil
	}
	if !f.Mode.delegates(c, fromCore) {
		return false, refusal(method, c != unknown)
	}
	return true, nil
}

// keeps reports whether the node answers a call itself.
func (f *Forwarder) keeps(caller command.Caller, c *command.Command, known bool) bool {
	switch {
	case f.answersAlways(c):
		return true
	case f.isWallet(c):
		return f.OwnWallet(caller.WalletPath)
	case f.isCores(c):
		return false
	case !known && caller.WalletPath != nil && f.OwnWallet != nil:
		return f.OwnWallet(caller.WalletPath) // of a method that wallets here do not have
	default:
		return known
	}
}

// refusal answers a call that is not passed on.
func refusal(method string, named bool) error {
	if !named {
		return command.ErrMethodNotFound
	}
	return command.Errorf(command.MiscError,
		"%s is answered by Bitcoin Core, and this node passes it on for no such login (see -attachforward)", method)
}

// Public implements command.Forwarder.
func (f *Forwarder) Public(method string) bool {
	c := f.factsOf(method)
	return c.About == command.State || c.LooksOnly() && !c.TakesSecrets() && !c.ShowsSecrets()
}

// Forward implements command.Forwarder.
func (f *Forwarder) Forward(
	ctx context.Context, caller command.Caller, method string, params *jsontree.Value,
) (any, error) {
	if err := refuseGap(method, params); err != nil {
		return nil, err
	}
	body := request(method, params)
	defer clear(body)
	path := "/"
	if caller.WalletPath != nil {
		path = "/wallet/" + url.PathEscape(*caller.WalletPath)
	}
	reply, err := f.send(ctx, caller, path, body)
	if err == nil {
		f.followed(ctx, method) // the reply is Core's in any case
	}
	if err != nil {
		return nil, clientError(ctx, err)
	}
	return f.answer(method, reply)
}

func (f *Forwarder) send(ctx context.Context, caller command.Caller, path string, body []byte) (corenode.Reply, error) {
	login, fromCore := caller.Login.(coreLogin)
	if !fromCore {
		return f.Core.ForwardOwn(ctx, path, body)
	}
	reply, err := f.Core.Forward(ctx, path, login.header, body)
	if err == nil {
		f.logins.noteStatus(login.header, reply.Status)
	}
	return reply, err
}

// request returns the body of a call. Where it grows, what it was in before is
// overwritten.
func request(method string, params *jsontree.Value) []byte {
	body := append([]byte(`{"jsonrpc":"2.0","id":0,"method":`), jsontree.AppendString(nil, method)...)
	if !params.IsNull() {
		text := params.AppendJSON(nil)
		whole := make([]byte, 0, len(body)+len(text)+16)
		body = append(append(append(whole, body...), `,"params":`...), text...)
		clear(text)
	}
	return append(body, '}')
}

// answer returns the result of a reply, or the error in it.
func (f *Forwarder) answer(method string, reply corenode.Reply) (any, error) {
	switch {
	case reply.Status == http.StatusUnauthorized, reply.Status == http.StatusForbidden,
		reply.Status == http.StatusServiceUnavailable:
		return nil, command.Refused(reply.Status)
	case reply.Status == http.StatusNotFound && len(reply.Body) == 0: // a Core without wallets
		return nil, command.ErrMethodNotFound
	}
	if large := reply.Large; large != nil {
		if !f.Public(method) { // secrets are overwritten when they are out, and so kept until then
			_ = large.Close()
			return nil, errLarge
		}
		return large, nil
	}
	answer, err := corenode.ParseReply(reply.Body)
	switch {
	case err != nil:
		return nil, errReply
	case answer.Err != nil:
		return nil, command.Error{Code: command.Code(answer.Err.Code), Message: answer.Err.Message}
	case f.Public(method):
		return result(answer.Result), nil
	}
	return secretResult{result(answer.Result)}, nil
}

// Errors for clients where Core gives no usable answer.
var (
	errAway  = command.Error{Code: command.ClientNotConnected, Message: "Bitcoin Core does not answer"}
	errReply = command.Error{Code: command.MiscError, Message: "The reply of Bitcoin Core cannot be read"}
	errLarge = command.Error{Code: command.OutOfMemory, Message: "The reply of Bitcoin Core is too large here"}
)

func clientError(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, corenode.ErrTooLarge):
		return errLarge
	case errors.Is(err, corenode.ErrReply):
		return errReply
	}
	return errAway
}

// A result is JSON that goes out as it came.
type result []byte

// AppendJSON implements jsontree.Appender.
func (r result) AppendJSON(dst []byte) []byte { return append(dst, r...) }

// A secretResult is overwritten when it is out.
type secretResult struct{ result }

// Secrets implements command.Teller.
func (r secretResult) Secrets() []command.Secret { return []command.Secret{command.Secret(r.result)} }
