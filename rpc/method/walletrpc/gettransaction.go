package walletrpc

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func (m *methods) getTransaction() command.Command {
	return command.Command{
		Name:     "gettransaction",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads,
		Summary: "Returns a transaction of the wallet.",
		Params: []command.Param{
			{Name: "txid", Type: command.String, Help: "id of the transaction"},
			noWatchOnlyParam,
			{Name: "verbose", Type: command.Bool, Default: "false", Help: "whether it is shown decoded as well"},
		},
		Results: []command.Result{{Type: command.Object, Inner: slices.Concat([]command.Result{
			{Type: command.Amount, Key: "amount", Help: "what the wallet gained by it, the fee left out"},
			{Type: command.Amount, Key: "fee", Optional: true, Help: "(only when the wallet sent it) the fee, " +
				"negative"},
		}, txResults, []command.Result{
			{Type: command.Array, Key: "details", Help: "the payments in it", Inner: []command.Result{
				{Type: command.Object, Inner: entryResults},
			}},
			{Type: command.Hex, Key: "hex", Help: "the serialized transaction"},
			{
				Type: command.Object, Key: "decoded", Optional: true,
				Help: "the transaction as decoderawtransaction shows it",
				Inner: []command.Result{
					{Type: command.Elision, Help: "members as there"},
					{
						Type: command.Array, Key: "vout",
						Inner: []command.Result{{Type: command.Object, Inner: changeResults}},
					},
				},
			},
			lastBlockResult,
		})}},
		Examples: []string{
			`["` + exampleTxID + `"]`,
			`["` + exampleTxID + `", false, true]`,
		},
		Run: m.on(m.transaction),
	}
}

// changeResults declares an output of a transaction of the wallet.
var changeResults = []command.Result{
	{Type: command.Elision, Help: "members as there"},
	{
		Type: command.Bool, Key: "ischange", Optional: true, Since: 32,
		Help: "true, for an output that is taken for change",
	},
}

func (m *methods) transaction(ctx context.Context, w chosen, a *command.Args) (any, error) {
	txid, err := arg.Hash(a.Value(0), "txid")
	if err != nil {
		return nil, err
	}
	verbose, err := a.BoolOr(2, false)
	if err != nil {
		return nil, err
	}
	got, err := ask.Ask(ctx, w.ref, messages.GetTransaction{TxID: txid})
	if err != nil {
		return nil, err
	}
	e := make(entry, 0, 32)
	e.add("amount", jsontree.Amount(got.Amount))
	if got.HasFee {
		e.add("fee", jsontree.Amount(got.Fee))
	}
	e.addTx(&got.Tx, m.Network.TxNotes)
	e.set("details", m.entries(got.Details, false))
	e.set("hex", hex.EncodeToString(got.Tx.Raw))
	if verbose {
		tx, ok := rawtx.Decode(got.Tx.Raw, rawtx.WitnessForm)
		if !ok {
			return nil, fmt.Errorf("transaction %v of wallet %q cannot be read", txid, w.name)
		}
		e.set("decoded", m.printer.Tx(tx, txjson.Options{Change: got.Change}))
	}
	e.set("lastprocessedblock", block(got.Last))
	return jsontree.Members(e), nil
}
