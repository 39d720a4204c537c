package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// receivedLabel is what all addresses with one label received.
type receivedLabel struct {
	Amount        jsontree.Amount `json:"amount"`
	Confirmations int32           `json:"confirmations"`
	Label         string          `json:"label"`
}

func (m *methods) listReceivedByLabel() command.Command {
	return command.Command{
		Name:     "listreceivedbylabel",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads,
		Summary: "Returns what the wallet's addresses have received, by their labels.",
		Params: []command.Param{
			minConfParam,
			{
				Name: "include_empty", Type: command.Bool, Default: "false",
				Help: "whether labels are listed that received nothing",
			},
			noWatchOnlyParam,
			immatureParam,
		},
		Results: []command.Result{{Type: command.Array, Inner: []command.Result{
			{Type: command.Object, Inner: []command.Result{
				{Type: command.Amount, Key: "amount", Help: "what the addresses with this label received"},
				{
					Type: command.Number, Key: "confirmations",
					Help: "confirmations of the newest transaction that counts",
				},
				{Type: command.String, Key: "label", Help: "the label"},
			}},
		}}},
		Examples: []string{`[]`, `[6, true]`},
		Run:      m.on(receivedByLabel),
	}
}

func receivedByLabel(ctx context.Context, w chosen, a *command.Args) (any, error) {
	q := messages.ListReceived{ByLabel: true}
	var err error
	if q.IncludeImmature, err = a.BoolOr(3, false); err != nil {
		return nil, err
	}
	if q.MinConf, err = a.Int32Or(0, 1); err != nil {
		return nil, err
	}
	if q.IncludeEmpty, err = a.BoolOr(1, false); err != nil {
		return nil, err
	}
	got, err := ask.Ask(ctx, w.ref, q)
	if err != nil {
		return nil, err
	}
	list := make([]receivedLabel, len(got))
	for i, r := range got {
		list[i] = receivedLabel{jsontree.Amount(r.Amount), r.Confirmations, r.Label}
	}
	return list, nil
}
