package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

var (
	errEmptyLabel = command.Error{
		Code: command.InvalidParameter, Message: `Label argument must be a valid label name or "*".`,
	}
	errNegativeCount = command.Error{Code: command.InvalidParameter, Message: "Negative count"}
	errNegativeFrom  = command.Error{Code: command.InvalidParameter, Message: "Negative from"}
)

func (m *methods) listTransactions() command.Command {
	return command.Command{
		Name:     "listtransactions",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads,
		Summary: "Returns the newest payments from and to the wallet, the oldest of them first.",
		Params: []command.Param{
			{
				Name: "label", Type: command.String, Optional: true,
				Help: `only payments to addresses with this label; "*" for all payments`,
			},
			{Name: "count", Type: command.Number, Default: "10", Help: "how many are returned"},
			{Name: "skip", Type: command.Number, Default: "0", Help: "how many of the newest are left out"},
			noWatchOnlyParam,
		},
		Results:  []command.Result{{Type: command.Array, Inner: []command.Result{listedEntry}}},
		Examples: []string{`[]`, `["*", 20, 100]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			q, err := readListTransactions(a)
			if err != nil {
				return nil, err
			}
			got, err := ask.Ask(ctx, w.ref, q)
			if err != nil {
				return nil, err
			}
			return m.entries(got, true), nil
		}),
	}
}

func readListTransactions(a *command.Args) (q messages.ListTransactions, err error) {
	name, err := a.StringOr(0, "*")
	switch {
	case err != nil:
		return q, err
	case name == "":
		return q, errEmptyLabel
	case name != "*":
		q.Label = &name
	}
	count, err := a.Int32Or(1, 10)
	if err != nil {
		return q, err
	}
	skip, err := a.Int32Or(2, 0)
	if err != nil {
		return q, err
	}
	if count < 0 {
		return q, errNegativeCount
	}
	if skip < 0 {
		return q, errNegativeFrom
	}
	q.Count, q.Skip = int(count), int(skip)
	return q, nil
}
