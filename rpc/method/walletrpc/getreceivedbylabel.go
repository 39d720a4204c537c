package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) getReceivedByLabel() command.Command {
	return command.Command{
		Name:     "getreceivedbylabel",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads,
		Summary: "Returns how much the wallet's addresses with a label have received together.",
		Params: []command.Param{
			{Name: "label", Type: command.String, Help: `the label, which may be ""`},
			minConfParam,
			immatureParam,
		},
		Results:  []command.Result{{Type: command.Amount, Help: "what the addresses received"}},
		Examples: []string{`[""]`, `["tabby", 6, true]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			name, err := label(a.Value(0))
			if err != nil {
				return nil, err
			}
			return received(ctx, w, a, messages.GetReceived{Label: &name})
		}),
	}
}
