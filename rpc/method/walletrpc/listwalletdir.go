package walletrpc

import (
	"context"
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// dirEntry is a wallet in the wallets directory.
type dirEntry struct {
	Name     string   `json:"name"`
	Warnings []string `json:"warnings"`
	Loading  *loading `json:"loading,omitempty"`
}

// loading is how far the loading of a wallet is.
type loading struct {
	Step     string  `json:"step"`     // what is being done
	Duration int64   `json:"duration"` // seconds
	Progress float64 `json:"progress"` // 0 to 1
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
					{
						Type: command.Object, Key: "loading", Optional: true,
						Help: "how far it is, while it is being loaded or restored",
						Inner: []command.Result{
							{Type: command.String, Key: "step", Help: "what is being done"},
							{Type: command.Number, Key: "duration", Help: "seconds since it began"},
							{Type: command.Number, Key: "progress", Help: "what is done of it, from 0 to 1"},
						},
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
			under, err := ask.Ask(ctx, m.Wallets, messages.GetLoading{})
			if err != nil {
				return nil, told(err)
			}
			found := make([]dirEntry, len(entries))
			for i, e := range entries {
				found[i] = dirEntry{Name: e.Name, Warnings: e.Warnings}
				for _, l := range under {
					if l.Name == e.Name {
						found[i].Loading = &loading{l.Step, seconds(time.Since(l.Since)), l.Progress}
					}
				}
			}
			return struct {
				Wallets []dirEntry `json:"wallets"`
			}{found}, nil
		},
	}
}
