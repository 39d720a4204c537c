package chainrpc

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func reconsiderBlock(d *Deps) command.Command {
	return command.Command{
		Name:     "reconsiderblock",
		Category: command.Hidden,
		About:    command.State, Effect: command.MovesTip,
		Summary: "Forgets that a block, what it builds on and what builds on it are invalid,\n" +
			"and validates them again. It takes back invalidateblock.",
		Params: []command.Param{
			{Name: "blockhash", Type: command.Hex, Help: "hash of the block"},
		},
		Results:  []command.Result{{Type: command.Null}},
		Examples: []string{`["00000000839a8e6886ab5951d76f411475428afc90947ee320161bbf18eb6048"]`},
		Run: blockOrder(func(ctx context.Context, hash chainhash.Hash) error {
			_, err := ask.Ask(ctx, d.Actor, messages.ReconsiderBlock{Hash: hash})
			return err
		}),
	}
}
