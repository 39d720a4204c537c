package rawtxrpc

import (
	"context"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// Unspent returns what looks up an output of the active chain or of the pool: nil when it is
// spent in the chain.
func Unspent(pool *ask.Ref) func(context.Context, *wire.OutPoint) (*wire.TxOut, error) {
	return func(ctx context.Context, out *wire.OutPoint) (*wire.TxOut, error) {
		q := messages.GetPoolCoins{Outs: []wire.OutPoint{*out}, View: messages.PoolOutputs}
		coins, err := ask.Ask(ctx, pool, q)
		if err != nil || coins[0] == nil {
			return nil, err
		}
		return coins[0].Output, nil
	}
}
