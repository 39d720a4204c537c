package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) restoreWallet() command.Command {
	return command.Command{
		Name:     "restorewallet",
		Category: command.Wallet,
		About:    command.Registry, At: command.Tip,
		Summary: "Makes a wallet from a backup file, loads it and scans the blocks that came since.\n" +
			"With the block filter index this is much faster. Meanwhile listwalletdir tells how far it is,\n" +
			"and abortrescan, called with the wallet's name in the path, ends it.",
		Params: []command.Param{
			{
				Name: "wallet_name", Type: command.String, Kind: command.WalletName,
				Help: "name that the wallet is to have",
			},
			{Name: "backup_file", Type: command.String, Help: "path of the backup"},
			onStartupParam,
		},
		Results: loadedResults,
		Examples: []string{
			`["testwallet", "/home/backups/backup-file.bak"]`,
			`{"wallet_name": "testwallet", "backup_file": "/home/backups/backup-file.bak", "load_on_startup": true}`,
		},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			var q messages.RestoreWallet
			var err error
			if q.Backup, err = a.String(1); err != nil {
				return nil, err
			}
			if q.Name, err = a.String(0); err != nil {
				return nil, err
			}
			if q.OnStartup, err = onStartup(a, 2); err != nil {
				return nil, err
			}
			got, err := ask.Ask(ctx, m.Wallets, q)
			if err != nil {
				return nil, told(err)
			}
			return loaded(got), nil
		},
	}
}
