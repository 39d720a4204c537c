package chainrpc

import (
	"context"

	"github.com/seed61375155/trawl/rpc/command"
)

func getBlockHash(d *Deps) command.Command {
	return command.Command{
		Name:     "getblockhash",
		Category: command.Blockchain,
		About:    command.Blocks, Effect: command.Reads, At: command.Block,
		Summary:  "Returns the hash of the active chain's block at a height.",
		Params:   []command.Param{{Name: "height", Type: command.Number, Help: "height of the block"}},
		Results:  []command.Result{{Type: command.Hex, Help: "hash of the block"}},
		Examples: []string{`[1000]`},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			height, err := a.Int32(0)
			if err != nil {
				return nil, err
			}
			active, err := d.active()
			if err != nil {
				return nil, err
			}
			b := active.At(height)
			if b == nil {
				return nil, command.Error{Code: command.InvalidParameter, Message: "Block height out of range"}
			}
			return b.Hash, nil
		},
	}
}
