package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) loadWallet() command.Command {
	return command.Command{
		Name:     "loadwallet",
		Category: command.Wallet,
		About:    command.Registry,
		Summary:  "Loads a wallet, and scans the blocks that came while it was not loaded.",
		Params: []command.Param{
			{
				Name: "filename", Type: command.String, Kind: command.WalletName,
				Help: "name of the wallet: its folder, absolute or below the wallets directory",
			},
			onStartupParam,
		},
		Results:  loadedResults,
		Examples: []string{`["walletname"]`, `["/path/to/walletname/"]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			name, err := a.String(0)
			if err != nil {
				return nil, err
			}
			startup, err := onStartup(a, 1)
			if err != nil {
				return nil, err
			}
			if m.Directory.Lookup(name) != nil {
				return nil, command.Errorf(command.WalletAlreadyLoaded, `Wallet "%s" is already loaded.`, name)
			}
			got, err := ask.Ask(ctx, m.Wallets, messages.LoadWallet{Name: name, OnStartup: startup})
			if err != nil {
				return nil, told(err)
			}
			return loaded(got), nil
		},
	}
}
