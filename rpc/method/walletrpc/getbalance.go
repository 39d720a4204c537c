package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

var (
	errBalanceDummy = command.Error{
		Code: command.MethodDeprecated, Message: `dummy first argument must be excluded or set to "*".`,
	}
	errNoAvoidReuse = command.Error{
		Code: command.WalletError, Message: `wallet does not have the "avoid reuse" feature enabled`,
	}
)

func (m *methods) getBalance() command.Command {
	return command.Command{
		Name:     "getbalance",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads,
		Summary: "Returns how much the wallet has that can be spent now.",
		Params: []command.Param{
			{Name: "dummy", Type: command.String, Optional: true, Help: `must be "*" or left out`},
			{
				Name: "minconf", Type: command.Number, Default: "0",
				Help: "least number of confirmations of coins that count",
			},
			{Name: "include_watchonly", Type: command.Bool, Default: "false", Help: "has no effect"},
			{
				Name: "avoid_reuse", Type: command.Bool, Default: "true",
				Help: "(only for wallets with this feature) whether coins on addresses that were spent from do not " +
					"count",
			},
		},
		Results:  []command.Result{{Type: command.Amount, Help: "the balance"}},
		Examples: []string{`[]`, `["*", 6]`},
		Run:      m.on(balance),
	}
}

func balance(ctx context.Context, w chosen, a *command.Args) (any, error) {
	dummy, err := a.StringOr(0, "*")
	if err != nil {
		return nil, err
	}
	if dummy != "*" {
		return nil, errBalanceDummy
	}
	q := messages.GetBalances{}
	if q.MinConf, err = a.Int32Or(1, 0); err != nil {
		return nil, err
	}
	if q.AvoidReuse, err = a.BoolOr(3, true); err != nil {
		return nil, err
	}
	got, err := ask.Ask(ctx, w.ref, q)
	if err != nil {
		return nil, err
	}
	if a.Has(3) && q.AvoidReuse && !got.HasUsed {
		return nil, errNoAvoidReuse
	}
	return jsontree.Amount(got.Trusted), nil
}
