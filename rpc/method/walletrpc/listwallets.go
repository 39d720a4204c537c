package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) listWallets() command.Command {
	return command.Command{
		Name:     "listwallets",
		Category: command.Wallet,
		About:    command.Registry, Effect: command.Reads,
		Summary: "Returns the names of the wallets that are loaded, in the order in which they were.",
		Results: []command.Result{{Type: command.Array, Inner: []command.Result{
			{Type: command.String, Help: "name of a wallet"},
		}}},
		Examples: []string{`[]`},
		Run:      func(context.Context, *command.Args) (any, error) { return m.Directory.Names(), nil },
	}
}
