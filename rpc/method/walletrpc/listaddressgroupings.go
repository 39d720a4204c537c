package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) listAddressGroupings() command.Command {
	return command.Command{
		Name:     "listaddressgroupings",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads,
		Summary: "Lists the addresses of the wallet's transactions in groups that everybody can see to have one\n" +
			"owner: addresses that were spent from together, and those of the change.",
		Results: []command.Result{{Type: command.Array, Help: "groups", Inner: []command.Result{
			{Type: command.Array, Help: "addresses", Inner: []command.Result{
				{Type: command.Array, Help: "address, amount, and label where there is one", Inner: []command.Result{
					{Type: command.String, Help: "the address"},
					{Type: command.Amount, Help: "amount of its coins"},
					{Type: command.String, Optional: true, Help: "its label"},
				}},
			}},
		}}},
		Examples: []string{`[]`},
		Run: m.on(func(ctx context.Context, w chosen, _ *command.Args) (any, error) {
			groups, err := ask.Ask(ctx, w.ref, messages.ListGroupings{})
			if err != nil {
				return nil, err
			}
			list := make([][][]any, 0, len(groups))
			for _, group := range groups {
				shown := make([][]any, 0, len(group))
				for _, a := range group {
					element := []any{a.Address, jsontree.Amount(a.Amount)}
					if a.HasLabel {
						element = append(element, a.Label)
					}
					shown = append(shown, element)
				}
				list = append(list, shown)
			}
			return list, nil
		}),
	}
}
