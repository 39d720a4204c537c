package chainrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/rpc/command"
)

func getDifficulty(d *Deps) command.Command {
	return command.Command{
		Name:     "getdifficulty",
		Category: command.Blockchain,
		About:    command.Blocks, Effect: command.Reads, At: command.Tip,
		Summary:  "Returns the difficulty of the tip, as a multiple of the least.",
		Results:  []command.Result{{Type: command.Number, Help: "the difficulty"}},
		Examples: []string{`[]`},
		Run: func(context.Context, *command.Args) (any, error) {
			active, err := d.active()
			if err != nil {
				return nil, err
			}
			return txjson.Difficulty(active.Tip().Bits()), nil
		},
	}
}
