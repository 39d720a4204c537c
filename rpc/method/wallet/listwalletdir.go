package wallet

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// dirEntry is a wallet in the wallets directory.
type dirEntry struct {
	Name     string   `json:"name"`
	Warnings []string `json:"warnings"`
}

func (m *methods) listWalletDir() command.Command {
	return command.Command{
		Name:     "listwalletdir",
		Category: command.Wallet,
		About:    command.Registry, Effect: command.Reads,
		Summary: "Returns the wallets in the wallets directory, loaded or not.",
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Array, Key: "wallets", Help: "the wallets", Inner: []command.Result{
				{Type: command.Object, Inner: []command.Result{
					{Type: command.String, Key: "name", Help: "name of the wallet"},
					{
						Type: command.Array, Key: "warnings", Help: "what stands against loading it",
						Inner: []command.Result{{Type: command.String, Help: "a warning"}},
					},
				}},
			}},
		}}},
		Examples: []string{`[]`},
		Run: func(ctx context.Context, _ *command.Args) (any, error) {
			entries, err := ask.Ask(ctx, m.Wallets, messages.ListWalletDir{})
			if err != nil {
				return nil, told(err)
			}
			found := make([]dirEntry, len(entries))
			for i, e := range entries {
				found[i] = dirEntry(e)
			}
			return struct {
				Wallets []dirEntry `json:"wallets"`
			}{found}, nil
		},
	}
}
