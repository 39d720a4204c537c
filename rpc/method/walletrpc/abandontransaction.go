package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// exampleTxID stands for a transaction in help texts.
const exampleTxID = "1075db55d416d3ca199f55b6084e2115b9345e16c5cf302fc80e9d5fbf5d48d1"

func (m *methods) abandonTransaction() command.Command {
	return command.Command{
		Name:     "abandontransaction",
		Category: command.Wallet,
		About:    command.Funds,
		Summary: "Gives up a transaction of the wallet, with all of the wallet that spends from it: the coins\n" +
			"that they spend can be spent again. The transaction must be neither in a block nor in the\n" +
			"memory pool. It is taken up again when it comes into one of them after all.",
		Params:   []command.Param{{Name: "txid", Type: command.Hex, Help: "id of the transaction"}},
		Results:  noResult,
		Examples: []string{`["` + exampleTxID + `"]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			txid, err := arg.Hash(a.Value(0), "txid")
			if err != nil {
				return nil, err
			}
			_, err = ask.Ask(ctx, w.ref, messages.AbandonTx{TxID: txid})
			return nil, err
		}),
	}
}
