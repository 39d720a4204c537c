package walletrpc

import (
	"context"
	"math"
	"strings"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/history"
)

func (m *methods) exportHistory() command.Command {
	return command.Command{
		Name:     "exporthistory",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads, Own: true,
		Summary: "Returns all payments from and to the wallet as comma-separated values, the oldest first: the " +
			"entries of\nlisttransactions. The fee of a transaction is in the first of its lines.",
		Results:  []command.Result{{Type: command.String, Help: "the lines, the first with the names of the columns"}},
		Examples: []string{`[]`},
		Run: m.on(func(ctx context.Context, w chosen, _ *command.Args) (any, error) {
			entries, err := ask.Ask(ctx, w.ref, messages.ListTransactions{Count: math.MaxInt32})
			if err != nil {
				return nil, err
			}
			return strings.TrimSuffix(string(history.CSV(entries)), "\n"), nil // clients add one
		}),
	}
}
