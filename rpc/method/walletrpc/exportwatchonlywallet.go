package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) exportWatchOnlyWallet() command.Command {
	return command.Command{
		Name:     "exportwatchonlywallet",
		Category: command.Wallet,
		About:    command.Funds, Since: 32,
		Summary: "Writes a wallet's file without private keys, for a node that watches.\n" +
			"It has the public descriptors, the transactions, the persistent locks and the address book, and is\n" +
			"for restorewallet. Of addresses behind hardened steps it has those that are derived ahead.",
		Params: []command.Param{
			{Name: "destination", Type: command.String, Help: "path of the file, where there is none yet"},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "exported_file", Help: "the path"},
		}}},
		Examples: []string{`["/path/to/export.dat"]`},
		Run:      m.on(exportWatchOnly),
	}
}

func exportWatchOnly(ctx context.Context, w chosen, a *command.Args) (any, error) {
	path, err := a.String(0)
	if err != nil {
		return nil, err
	}
	_, err = ask.Ask(ctx, w.ref, messages.ExportWatchOnly{Path: path})
	return struct {
		File string `json:"exported_file"`
	}{path}, err
}
