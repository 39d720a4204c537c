package chainrpc

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func preciousBlock(d *Deps) command.Command {
	return command.Command{
		Name:     "preciousblock",
		Category: command.Blockchain,
		About:    command.State, Effect: command.MovesTip,
		Summary: "Has a block count as if it had come before all others with the same work, until\n" +
			"the next call or the next start.",
		Params: []command.Param{
			{Name: "blockhash", Type: command.Hex, Help: "hash of the block"},
		},
		Results:  []command.Result{{Type: command.Null}},
		Examples: []string{`["blockhash"]`},
		Run: blockOrder(func(ctx context.Context, hash chainhash.Hash) error {
			_, err := ask.Ask(ctx, d.Actor, messages.PreciousBlock{Hash: hash})
			return err
		}),
	}
}
