package walletrpc

import (
	"context"
	"encoding/hex"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// simulated is what transactions would do.
type simulated struct {
	Change jsontree.Amount `json:"balance_change"`
}

func (m *methods) simulateRawTransaction() command.Command {
	return command.Command{
		Name:     "simulaterawtransaction",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads,
		Summary: "Tells by how much transactions would change what the wallet has, were they signed and sent.\n" +
			"They may spend outputs of the chain, of the memory pool, and of those before them in the list.",
		Params: []command.Param{
			{
				Name: "rawtxs", Type: command.Array, Optional: true, Help: "the transactions",
				Inner: []command.Param{
					{Name: "rawtx", Type: command.Hex, Optional: true, Help: "a serialized transaction"},
				},
			},
			{
				Name: "options", Type: command.NamedOptions, Optional: true, Help: "none that has an effect",
				Inner: []command.Param{noWatchOnlyParam},
			},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Amount, Key: "balance_change", Help: "the change, negative where the wallet has less"},
		}}},
		Examples: []string{`[["myhex"]]`},
		Run:      m.on(m.runSimulate),
	}
}

func (m *methods) runSimulate(ctx context.Context, w chosen, a *command.Args) (any, error) {
	list, err := a.Array(0)
	if err != nil {
		return nil, err
	}
	// Errors of the transactions before an unreadable transaction are told first.
	txs, unread := readTxs(list)
	q := messages.SimulateTxs{Txs: txs, Known: make(map[wire.OutPoint]bool)}
	for _, tx := range txs {
		for _, in := range tx.TxIn {
			if m.Unspent == nil || q.Known[in.PreviousOutPoint] {
				continue
			}
			out, err := m.Unspent(ctx, &in.PreviousOutPoint)
			if err != nil {
				return nil, err
			}
			if out != nil {
				q.Known[in.PreviousOutPoint] = true
			}
		}
	}
	change, err := ask.Ask(ctx, w.ref, q)
	if err == nil {
		err = unread
	}
	if err != nil {
		return nil, err
	}
	return simulated{jsontree.Amount(change)}, nil
}

// readTxs reads transactions up to the first that cannot be read.
func readTxs(list *jsontree.Value) (txs []*wire.MsgTx, err error) {
	for _, v := range list.Elements() {
		text, err := v.AsString()
		if err != nil {
			return txs, err
		}
		raw, err := hex.DecodeString(text)
		tx, ok := rawtx.Decode(raw, rawtx.AnyForm)
		if err != nil || !ok {
			return txs, command.Error{
				Code: command.DeserializationError, Message: "Transaction hex string decoding failure.",
			}
		}
		txs = append(txs, tx)
	}
	return txs, nil
}
