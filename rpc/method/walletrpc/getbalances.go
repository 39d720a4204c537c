package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// balances is what getbalances returns.
type balances struct {
	Mine struct {
		Trusted  jsontree.Amount  `json:"trusted"`
		Pending  jsontree.Amount  `json:"untrusted_pending"`
		Immature jsontree.Amount  `json:"immature"`
		Unsent   jsontree.Amount  `json:"nonmempool"`
		Used     *jsontree.Amount `json:"used,omitempty"` // wallets that avoid reuse
	} `json:"mine"`
	Last block `json:"lastprocessedblock"`
}

func (m *methods) getBalances() command.Command {
	return command.Command{
		Name:     "getbalances",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads,
		Summary: "Returns how much the wallet has, by what can be done with it.",
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Object, Key: "mine", Help: "coins of the wallet", Inner: []command.Result{
				{Type: command.Amount, Key: "trusted", Help: "confirmed, or made by the wallet itself"},
				{Type: command.Amount, Key: "untrusted_pending", Help: "unconfirmed and made by others"},
				{Type: command.Amount, Key: "immature", Help: "coinbase outputs that are too young to be spent"},
				{
					Type: command.Amount, Key: "nonmempool", Since: 32, Help: "0 or less: those among them that " +
						"transactions spend which are neither in a block nor in the memory pool",
				},
				{
					Type: command.Amount, Key: "used", Optional: true,
					Help: "(only for wallets that avoid reuse) on addresses that were spent from",
				},
			}},
			lastBlockResult,
		}}},
		Examples: []string{`[]`},
		Run: m.on(func(ctx context.Context, w chosen, _ *command.Args) (any, error) {
			got, err := ask.Ask(ctx, w.ref, messages.GetBalances{AvoidReuse: true, Unsent: m.Network.CountsUnsent})
			if err != nil {
				return nil, err
			}
			shown := balances{Last: block(got.Last)}
			shown.Mine.Trusted = jsontree.Amount(got.Trusted)
			shown.Mine.Pending = jsontree.Amount(got.Pending)
			shown.Mine.Immature = jsontree.Amount(got.Immature)
			shown.Mine.Unsent = jsontree.Amount(got.Unsent)
			if got.HasUsed {
				shown.Mine.Used = new(jsontree.Amount(got.Used))
			}
			return shown, nil
		}),
	}
}
