package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// migrated is the reply to migratewallet.
type migrated struct {
	Name      string `json:"wallet_name"`
	WatchOnly string `json:"watchonly_name,omitempty"`
	Solvables string `json:"solvables_name,omitempty"`
	Backup    string `json:"backup_path"`

	Warnings []string `json:"warnings,omitempty"`
}

func (m *methods) migrateWallet() command.Command {
	return command.Command{
		Name:     "migratewallet",
		Category: command.Wallet,
		About:    command.Registry,
		Summary: "Makes descriptor wallets of a legacy wallet (Berkeley DB) in the wallets directory, and loads\n" +
			"them. The old file is copied into the wallets directory first, as NAME_TIME.legacy.bak. What it\n" +
			"watched, and what it could only help to spend, go to wallets of their own, NAME_watchonly and\n" +
			"NAME_solvables, which are loaded at start from then on. After a failure the old wallet is where it\n" +
			"was.\n" +
			"A client should wait for long: blocks that the wallet has not seen are looked through.",
		Params: []command.Param{
			{
				Name: "wallet_name", Type: command.String, Default: "the wallet name from the RPC endpoint",
				Help: "name of the wallet, or the path where it is; the path of the call must name the same, if any",
			},
			{
				Name: "passphrase", Type: command.String, Optional: true, Help: "passphrase of an encrypted wallet",
				Secret: true,
			},
			{
				Name: "load_wallet", Type: command.Bool, Default: "true", Since: 32,
				Help: "false: the new wallets are not loaded, now or at start",
			},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "wallet_name", Help: "name of the first of the new wallets"},
			{
				Type: command.String, Key: "watchonly_name", Optional: true,
				Help: "name of the wallet that watches what the old one watched",
			},
			{
				Type: command.String, Key: "solvables_name", Optional: true,
				Help: "name of the wallet that knows how to spend what the old one could solve",
			},
			{Type: command.String, Key: "backup_path", Help: "path of the copy of the old file"},
			{
				Type: command.Array, Key: "warnings", Optional: true,
				Help:  "what was left out, since it belongs to none of the wallets",
				Inner: []command.Result{{Type: command.String, Help: "a warning"}},
			},
		}}},
		Examples: []string{`[]`, `["old"]`, `{"wallet_name": "old", "passphrase": "my pass phrase", "load_wallet": false}`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			name, err := onlyName(a)
			if err != nil {
				return nil, err
			}
			q := messages.MigrateWallet{Name: name}
			if a.Has(1) {
				if q.Passphrase, err = readSecret(a.Value(1)); err != nil {
					return nil, err
				}
			}
			load, err := a.BoolOr(2, true)
			if err != nil {
				return nil, err
			}
			q.DontLoad = !load
			got, err := ask.Ask(ctx, m.Wallets, q)
			if err != nil {
				return nil, told(err)
			}
			return migrated{got.Name, got.WatchOnly, got.Solvables, got.BackupPath, got.Warnings}, nil
		},
	}
}
