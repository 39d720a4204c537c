package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) backupWallet() command.Command {
	return command.Command{
		Name:     "backupwallet",
		Category: command.Wallet,
		About:    command.Funds,
		Summary:  "Copies the wallet's file as it is at one moment, without a need to unload the wallet.",
		Params: []command.Param{
			{Name: "destination", Type: command.String, Help: "path of the copy, or of a folder for it"},
		},
		Results:  noResult,
		Examples: []string{`["backup.dat"]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			path, err := a.String(0)
			if err != nil {
				return nil, err
			}
			_, err = ask.Ask(ctx, w.ref, messages.BackupWallet{Path: path})
			return nil, err
		}),
	}
}
