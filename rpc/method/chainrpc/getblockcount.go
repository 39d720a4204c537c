package chainrpc

import (
	"context"

	"github.com/seed61375155/trawl/rpc/command"
)

func getBlockCount(d *Deps) command.Command {
	return command.Command{
		Name:     "getblockcount",
		Category: command.Blockchain,
		About:    command.Blocks, Effect: command.Reads, At: command.Tip,
		Summary:  "Returns the height of the active chain. The genesis block has height 0.",
		Results:  []command.Result{{Type: command.Number, Help: "height of the tip"}},
		Examples: []string{`[]`},
		Control:  always,
		Run: func(context.Context, *command.Args) (any, error) {
			active, err := d.active()
			if err != nil {
				return nil, err
			}
			return active.Height(), nil
		},
	}
}
