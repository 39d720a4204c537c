package mempoolrpc

import (
	"context"
	"errors"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func prioritiseTransaction(d *Deps) command.Command {
	return command.Command{
		Name:     "prioritisetransaction",
		Category: command.Mining,
		About:    command.State,
		Summary:  "Makes a transaction count as paying more, or less, when blocks are made and the pool is full.",
		Params: []command.Param{
			{Name: "txid", Type: command.Hex, Help: "its id"},
			{Name: "dummy", Type: command.Number, Optional: true, Help: "must be 0 or null; older clients send it"},
			{Name: "fee_delta", Type: command.Number, Help: "what to add to its fee, in the smallest unit"},
		},
		Results:  []command.Result{{Type: command.Bool, Help: "true"}},
		Examples: []string{`["txid", 0.0, 10000]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			id, err := arg.Hash(a.Value(0), "txid")
			if err != nil {
				return nil, err
			}
			dummy := 0.0
			if a.Has(1) {
				if dummy, err = a.Value(1).AsFloat64(); err != nil {
					return nil, err
				}
			}
			delta, err := a.Int64(2)
			if err != nil {
				return nil, err
			}
			if dummy != 0 {
				return nil, command.Error{
					Code:    command.InvalidParameter,
					Message: "Priority is no longer supported, dummy argument to prioritisetransaction must be 0.",
				}
			}
			_, err = ask.Ask(ctx, d.Pool, messages.PrioritiseTx{ID: id, Delta: delta})
			if errors.Is(err, messages.ErrTxDust) {
				return nil, command.Error{
					Code:    command.InvalidParameter,
					Message: "Priority is not supported for transactions with dust outputs.",
				}
			}
			return err == nil, err
		},
	}
}

func getPrioritisedTransactions(d *Deps) command.Command {
	return command.Command{
		Name:     "getprioritisedtransactions",
		Category: command.Mining,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns what prioritisetransaction did.",
		Results: []command.Result{{Type: command.UserKeys, Inner: []command.Result{
			{
				Type: command.Object, Key: "transactionid", Help: "by the ids of the transactions",
				Inner: []command.Result{
					{Type: command.Number, Key: "fee_delta", Help: "what was added to its fee, in the smallest unit"},
					{Type: command.Bool, Key: "in_mempool", Help: "whether it is in the pool"},
					{
						Type: command.Number, Key: "modified_fee", Optional: true,
						Help: "the fee with it, of one in the pool",
					},
				},
			},
		}}},
		Examples: []string{`[]`},
		Run: func(ctx context.Context, _ *command.Args) (any, error) {
			list, err := ask.Ask(ctx, d.Pool, messages.GetPrioritised{})
			shown := make(jsontree.Members, len(list))
			for i := range list {
				p := prioritised{Delta: list[i].Delta, InPool: list[i].InPool}
				if p.InPool {
					p.ModifiedFee = &list[i].ModifiedFee
				}
				shown[i] = jsontree.Member{Key: list[i].ID.String(), Value: p}
			}
			return shown, err
		},
	}
}

type prioritised struct {
	Delta       int64  `json:"fee_delta"`
	InPool      bool   `json:"in_mempool"`
	ModifiedFee *int64 `json:"modified_fee,omitempty"`
}
