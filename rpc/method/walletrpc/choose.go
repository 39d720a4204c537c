package walletrpc

import (
	"context"
	"errors"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

var (
	errNotLoaded = command.Error{
		Code: command.WalletNotFound, Message: "Requested wallet does not exist or is not loaded",
	}
	errNoneLoaded = command.Error{
		Code: command.WalletNotFound,
		Message: "No wallet is loaded. Load a wallet using loadwallet or create a new one with createwallet. " +
			"(Note: A default wallet is no longer automatically created)",
	}
	errSeveralLoaded = command.Error{
		Code: command.WalletNotSpecified,
		Message: "Multiple wallets are loaded. Please select which wallet to use by requesting the RPC through the " +
			"/wallet/<walletname> URI path.",
	}
)

// A chosen wallet is the wallet that a call is for.
type chosen struct {
	name string
	ref  *ask.Ref
}

// choose finds the wallet that the request's path names, or the only one.
func (m *methods) choose(path *string) (chosen, error) {
	if path != nil {
		if ref := m.Directory.Lookup(*path); ref != nil {
			return chosen{*path, ref}, nil
		}
		return chosen{}, errNotLoaded
	}
	switch names := m.Directory.Names(); len(names) {
	case 0:
		return chosen{}, errNoneLoaded
	case 1:
		return m.choose(&names[0])
	default:
		return chosen{}, errSeveralLoaded
	}
}

// body is the work of a method on a wallet.
type body func(ctx context.Context, w chosen, a *command.Args) (any, error)

// run is what a table calls.
type run func(ctx context.Context, a *command.Args) (any, error)

// on chooses the wallet before the body looks at any argument.
func (m *methods) on(do body) run {
	return func(ctx context.Context, a *command.Args) (any, error) {
		w, err := m.choose(a.WalletPath)
		if err != nil {
			return nil, err
		}
		result, err := do(ctx, w, a)
		return result, m.failure(w, err)
	}
}

// failure puts an error of a wallet into words for the client. A wallet that was
// unloaded while it was asked counts as not loaded.
func (m *methods) failure(w chosen, err error) error {
	if errors.Is(err, ask.ErrStopped) && m.Directory.Lookup(w.name) != w.ref {
		return errNotLoaded
	}
	return told(err)
}

// told is what a client is told of an error of the registry or of a wallet.
func told(err error) error {
	if e, ok := errors.AsType[*messages.WalletError](err); ok {
		return command.Error{Code: command.Code(e.Code), Message: e.Text}
	}
	if errors.Is(err, messages.ErrWalletNotFound) {
		return errNotLoaded
	}
	return err
}
