package walletrpc

import (
	"context"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func (m *methods) lockUnspent() command.Command {
	return command.Command{
		Name:     "lockunspent",
		Category: command.Wallet,
		About:    command.Funds,
		Summary: "Keeps coins from being chosen when the wallet pays, or allows that again.\n" +
			"Locks end with the process, but for persistent ones, and with the coin being spent.",
		Params: []command.Param{
			{Name: "unlock", Type: command.Bool, Help: "true to unlock, false to lock"},
			{
				Name: "transactions", Type: command.Array, Default: "[]",
				Help: "the coins; without any, all are unlocked",
				Inner: []command.Param{{Type: command.Object, Optional: true, Inner: []command.Param{
					{Name: "txid", Type: command.Hex, Help: "id of the transaction with the output"},
					{Name: "vout", Type: command.Number, Help: "number of the output"},
				}}},
			},
			{
				Name: "persistent", Type: command.Bool, Default: "false",
				Help: "whether the lock is written to the wallet's file; nothing when unlocking",
			},
		},
		Results:  []command.Result{{Type: command.Bool, Help: "true"}},
		Examples: []string{`[false, [{"txid": "a08e6907dbbd3d809776dbfc5d82e371b764ed838b5655e72f463568df1aadf0", "vout": 1}]]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			q, err := readLock(a)
			if err != nil {
				return nil, err
			}
			if !a.Has(1) && !q.Unlock {
				return true, nil
			}
			_, err = ask.Ask(ctx, w.ref, q)
			return true, err
		}),
	}
}

// outPointFields are the members of a coin.
var outPointFields = []option{{"txid", jsontree.String}, {"vout", jsontree.Number}}

func readLock(a *command.Args) (q messages.LockCoins, err error) {
	if q.Unlock, err = a.Bool(0); err != nil {
		return q, err
	}
	if q.Persist, err = a.BoolOr(2, false); err != nil {
		return q, err
	}
	q.All = !a.Has(1)
	for _, v := range a.Value(1).Elements() {
		if _, err := v.AsObject(); err != nil {
			return q, err
		}
		if err := checkKinds(v, outPointFields, false); err != nil {
			return q, err
		}
		at := wire.OutPoint{}
		if at.Hash, err = arg.Hash(v.Get("txid"), "txid"); err != nil {
			return q, err
		}
		index, err := v.Get("vout").AsInt32()
		if err != nil {
			return q, err
		}
		if index < 0 {
			return q, command.Error{
				Code: command.InvalidParameter, Message: "Invalid parameter, vout cannot be negative",
			}
		}
		at.Index = uint32(index)
		q.Coins = append(q.Coins, at)
	}
	return q, nil
}

// lockedCoin is a coin as listlockunspent shows it.
type lockedCoin struct {
	TxID string `json:"txid"`
	Vout uint32 `json:"vout"`
}

func (m *methods) listLockUnspent() command.Command {
	return command.Command{
		Name:     "listlockunspent",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads,
		Summary: "Lists the coins that lockunspent has locked.",
		Results: []command.Result{{Type: command.Array, Inner: []command.Result{
			{Type: command.Object, Inner: []command.Result{
				{Type: command.Hex, Key: "txid", Help: "id of the transaction with the output"},
				{Type: command.Number, Key: "vout", Help: "number of the output"},
			}},
		}}},
		Examples: []string{`[]`},
		Run: m.on(func(ctx context.Context, w chosen, _ *command.Args) (any, error) {
			got, err := ask.Ask(ctx, w.ref, messages.ListLocked{})
			if err != nil {
				return nil, err
			}
			list := make([]lockedCoin, len(got))
			for i, at := range got {
				list[i] = lockedCoin{at.Hash.String(), at.Index}
			}
			return list, nil
		}),
	}
}
