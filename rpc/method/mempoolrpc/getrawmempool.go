package mempoolrpc

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func getRawMempool(d *Deps) command.Command {
	ids := []command.Result{{Type: command.Hex, Help: "id of a transaction"}}
	return command.Command{
		Name:     "getrawmempool",
		Category: command.Blockchain,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns the transactions of the memory pool.",
		Params: []command.Param{
			{
				Name: "verbose", Type: command.Bool, Default: "false",
				Help: "true for an object with details, false for a list of ids",
			},
			{
				Name: "mempool_sequence", Type: command.Bool, Default: "false",
				Help: "return the pool's sequence number with the list",
			},
		},
		Results: []command.Result{
			{Type: command.Array, When: "for verbose = false", Inner: ids},
			{Type: command.UserKeys, When: "for verbose = true", Inner: []command.Result{
				{Type: command.Object, Key: "txid", Help: "details of a transaction", Inner: d.entryResults()},
			}},
			{Type: command.Object, When: "for verbose = false and mempool_sequence = true", Inner: []command.Result{
				{Type: command.Array, Key: "txids", Inner: ids},
				{Type: command.Number, Key: "mempool_sequence", Help: "the sequence number"},
			}},
		},
		Examples: []string{`[]`, `[true]`},
		Run:      func(ctx context.Context, a *command.Args) (any, error) { return d.rawMempool(ctx, a) },
	}
}

func (d *Deps) rawMempool(ctx context.Context, a *command.Args) (any, error) {
	verbose, err := a.BoolOr(0, false)
	if err != nil {
		return nil, err
	}
	withSequence, err := a.BoolOr(1, false)
	if err != nil {
		return nil, err
	}
	if verbose && withSequence {
		return nil, command.Error{
			Code: command.InvalidParameter, Message: "Verbose results cannot contain mempool sequence values.",
		}
	}
	if verbose {
		all, err := ask.Ask(ctx, d.Pool, messages.GetPoolTxs{})
		return d.members(all.Txs), err
	}
	list, err := ask.Ask(ctx, d.Pool, messages.GetPoolIDs{})
	if err != nil || !withSequence {
		return list.IDs, err
	}
	return struct {
		TxIDs    []chainhash.Hash `json:"txids"`
		Sequence uint64           `json:"mempool_sequence"`
	}{list.IDs, list.Sequence}, nil
}

func (d *Deps) members(txs []messages.PoolTx) jsontree.Members {
	shown := make(jsontree.Members, len(txs))
	for i := range txs {
		shown[i] = jsontree.Member{Key: txs[i].ID.String(), Value: d.entry(&txs[i])}
	}
	return shown
}
