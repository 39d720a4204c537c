package chainrpc

import (
	"context"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func invalidateBlock(d *Deps) command.Command {
	return command.Command{
		Name:     "invalidateblock",
		Category: command.Hidden,
		About:    command.State, Effect: command.MovesTip | command.MovesPool,
		Summary: "Treats a block, and all that build on it, as if it broke a consensus rule, until reconsiderblock.",
		Params: []command.Param{
			{Name: "blockhash", Type: command.Hex, Help: "hash of the block"},
		},
		Results:  []command.Result{{Type: command.Null}},
		Examples: []string{`["00000000839a8e6886ab5951d76f411475428afc90947ee320161bbf18eb6048"]`},
		Run: blockOrder(func(ctx context.Context, hash chainhash.Hash) error {
			_, err := ask.Ask(ctx, d.Actor, messages.InvalidateBlock{Hash: hash})
			return err
		}),
	}
}

// blockOrder is the body of a method that orders something of one block.
func blockOrder(
	carryOut func(context.Context, chainhash.Hash) error,
) func(context.Context, *command.Args) (any, error) {
	return func(ctx context.Context, a *command.Args) (any, error) {
		hash, err := arg.Hash(a.Value(0), "blockhash")
		if err != nil {
			return nil, err
		}
		err = carryOut(ctx, hash)
		if errors.Is(err, messages.ErrBlockNotFound) {
			return nil, errUnknownBlock
		}
		if errors.Is(err, messages.ErrBlockPruned) {
			return nil, command.Error{Code: command.MiscError, Message: blockTexts.pruned}
		}
		if reject, ok := errors.AsType[*messages.RejectError](err); ok {
			return nil, command.Error{Code: command.DatabaseError, Message: reject.Error()}
		}
		return nil, err
	}
}
