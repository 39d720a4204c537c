package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) abortRescan() command.Command {
	return command.Command{
		Name:     "abortrescan",
		Category: command.Wallet,
		About:    command.Funds,
		Summary: "Ends the rescan of the wallet. The call that began it fails.\n" +
			"A wallet that is being loaded or restored, named by the path, is given up.",
		Results:  []command.Result{{Type: command.Bool, Help: "whether there was a rescan to end"}},
		Examples: []string{`[]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			if a.WalletPath != nil && m.Directory.Lookup(*a.WalletPath) == nil {
				return m.abortLoading(ctx, *a.WalletPath)
			}
			return m.on(abort)(ctx, a)
		},
		Control: func(*command.Args) bool { return true },
	}
}

func abort(ctx context.Context, w chosen, _ *command.Args) (any, error) {
	ended, err := ask.Ask(ctx, w.ref, messages.AbortRescan{})
	if err != nil {
		return nil, err
	}
	return ended, nil
}

// abortLoading ends the rescan of a wallet that is not loaded yet. Core cannot.
func (m *methods) abortLoading(ctx context.Context, name string) (any, error) {
	ended, err := ask.Ask(ctx, m.Wallets, messages.AbortRestore{Name: name})
	if err != nil {
		return nil, told(err)
	}
	if !ended {
		return nil, errNotLoaded
	}
	return true, nil
}
