package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) getReceivedByAddress() command.Command {
	return command.Command{
		Name:     "getreceivedbyaddress",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads,
		Summary: "Returns how much an address of the wallet has received.",
		Params: []command.Param{
			{Name: "address", Type: command.String, Help: "the address"},
			minConfParam,
			immatureParam,
		},
		Results:  []command.Result{{Type: command.Amount, Help: "what the address received"}},
		Examples: []string{`["` + exampleAddress + `"]`, `["` + exampleAddress + `", 6, true]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			text, err := a.String(0)
			if err != nil {
				return nil, err
			}
			script, err := m.script(text, "")
			if err != nil {
				return nil, err
			}
			return received(ctx, w, a, messages.GetReceived{Script: script})
		}),
	}
}

// received asks for a total. Whether the wallet has the address or the label
// comes before the other arguments, so a wrong one is not reported before the
// wallet was asked.
func received(ctx context.Context, w chosen, a *command.Args, q messages.GetReceived) (any, error) {
	var wrong error
	q.MinConf, wrong = a.Int32Or(1, 1)
	if wrong == nil {
		q.IncludeImmature, wrong = a.BoolOr(2, false)
	}
	total, err := ask.Ask(ctx, w.ref, q)
	if err != nil {
		return nil, err
	}
	if wrong != nil {
		return nil, wrong
	}
	return jsontree.Amount(total), nil
}
