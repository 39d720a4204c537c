package chainrpc

import (
	"context"

	"github.com/seed61375155/trawl/rpc/command"
)

func getBestBlockHash(d *Deps) command.Command {
	return command.Command{
		Name:     "getbestblockhash",
		Category: command.Blockchain,
		About:    command.Blocks, Effect: command.Reads, At: command.Tip,
		Summary:  "Returns the hash of the last block of the active chain.",
		Results:  []command.Result{{Type: command.Hex, Help: "hash of the tip"}},
		Examples: []string{`[]`},
		Control:  always,
		Run: func(context.Context, *command.Args) (any, error) {
			active, err := d.active()
			if err != nil {
				return nil, err
			}
			return active.Tip().Hash, nil
		},
	}
}
