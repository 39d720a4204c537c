package walletrpc

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

var errAddressFilter = command.Error{Code: command.WalletError, Message: "address_filter parameter was invalid"}

// receivedAddress is what one address received.
type receivedAddress struct {
	Address       string           `json:"address"`
	Amount        jsontree.Amount  `json:"amount"`
	Confirmations int32            `json:"confirmations"`
	Label         string           `json:"label"`
	TxIDs         []chainhash.Hash `json:"txids"`
}

func (m *methods) listReceivedByAddress() command.Command {
	return command.Command{
		Name:     "listreceivedbyaddress",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads,
		Summary: "Returns what each address of the wallet that has a label has received. The label may be empty.",
		Params: []command.Param{
			minConfParam,
			{
				Name: "include_empty", Type: command.Bool, Default: "false",
				Help: "whether addresses are listed that received nothing",
			},
			noWatchOnlyParam,
			{
				Name: "address_filter", Type: command.String, Optional: true,
				Help: "the only address to list; empty for all",
			},
			immatureParam,
		},
		Results: []command.Result{{Type: command.Array, Inner: []command.Result{
			{Type: command.Object, Inner: []command.Result{
				{Type: command.String, Key: "address", Help: "the address"},
				{Type: command.Amount, Key: "amount", Help: "what it received"},
				{
					Type: command.Number, Key: "confirmations",
					Help: "confirmations of the newest transaction that counts",
				},
				{Type: command.String, Key: "label", Help: "its label"},
				{
					Type: command.Array, Key: "txids",
					Help:  "the transactions by their ids, one of them once for each output to the address",
					Inner: []command.Result{{Type: command.Hex, Help: "id of a transaction"}},
				},
			}},
		}}},
		Examples: []string{`[]`, `[6, true]`, `[6, true, true, "` + exampleAddress + `", true]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			q, err := m.readReceivedByAddress(a)
			if err != nil {
				return nil, err
			}
			got, err := ask.Ask(ctx, w.ref, q)
			if err != nil {
				return nil, err
			}
			list := make([]receivedAddress, len(got))
			for i := range got {
				r := &got[i]
				list[i] = receivedAddress{r.Address, jsontree.Amount(r.Amount), r.Confirmations, r.Label, r.TxIDs}
			}
			return list, nil
		}),
	}
}

func (m *methods) readReceivedByAddress(a *command.Args) (q messages.ListReceived, err error) {
	if q.IncludeImmature, err = a.BoolOr(4, false); err != nil {
		return q, err
	}
	if q.MinConf, err = a.Int32Or(0, 1); err != nil {
		return q, err
	}
	if q.IncludeEmpty, err = a.BoolOr(1, false); err != nil {
		return q, err
	}
	text, err := a.StringOr(3, "")
	if err != nil || text == "" {
		return q, err
	}
	if q.Script, err = descriptor.ScriptOfAddress(text, m.net); err != nil {
		return q, errAddressFilter
	}
	return q, nil
}
