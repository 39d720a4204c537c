package chain

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// firstMempoolSequence is the sequence number of a pool that never changed.
const firstMempoolSequence = 1

func getRawMempool() command.Command {
	ids := []command.Result{{Type: command.Hex, Help: "id of a transaction"}}
	return command.Command{
		Name:     "getrawmempool",
		Category: command.Blockchain,
		Summary:  "Returns the transactions of the memory pool. This node keeps no unconfirmed transactions: its pool is empty.",
		Params: []command.Param{
			{Name: "verbose", Type: command.Bool, Default: "false", Help: "true for an object with details, false for a list of ids"},
			{Name: "mempool_sequence", Type: command.Bool, Default: "false", Help: "return the pool's sequence number with the list"},
		},
		Results: []command.Result{
			{Type: command.Array, When: "for verbose = false", Inner: ids},
			{Type: command.UserKeys, When: "for verbose = true", Inner: []command.Result{
				{Type: command.Object, Key: "txid", Help: "details of a transaction", Inner: []command.Result{{Type: command.Elision}}},
			}},
			{Type: command.Object, When: "for verbose = false and mempool_sequence = true", Inner: []command.Result{
				{Type: command.Array, Key: "txids", Inner: ids},
				{Type: command.Number, Key: "mempool_sequence", Help: "the sequence number"},
			}},
		},
		Examples: []string{`[]`, `[true]`},
		Run:      func(_ context.Context, a *command.Args) (any, error) { return rawMempool(a) },
	}
}

func rawMempool(a *command.Args) (any, error) {
	verbose, err := a.BoolOr(0, false)
	if err != nil {
		return nil, err
	}
	withSequence, err := a.BoolOr(1, false)
	if err != nil {
		return nil, err
	}
	switch {
	case verbose && withSequence:
		return nil, command.Error{
			Code: command.InvalidParameter, Message: "Verbose results cannot contain mempool sequence values.",
		}
	case verbose:
		return jsontree.Members{}, nil
	case withSequence:
		return struct {
			TxIDs    []chainhash.Hash `json:"txids"`
			Sequence int              `json:"mempool_sequence"`
		}{Sequence: firstMempoolSequence}, nil
	default:
		return []chainhash.Hash{}, nil
	}
}
