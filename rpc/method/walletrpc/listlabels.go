package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

var errPurpose = command.Error{
	Code:    command.InvalidParameter,
	Message: "Invalid 'purpose' argument, must be a known purpose string, typically 'send', or 'receive'.",
}

func (m *methods) listLabels() command.Command {
	return command.Command{
		Name:     "listlabels",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads,
		Summary: "Returns the labels in use, sorted.",
		Params: []command.Param{{
			Name: "purpose", Type: command.String, Optional: true,
			Help: "whose labels: \"receive\" for the wallet's own addresses, \"send\" for those it pays to; empty " +
				"for all",
		}},
		Results: []command.Result{
			{Type: command.Array, Inner: []command.Result{{Type: command.String, Help: "a label"}}},
		},
		Examples: []string{`[]`, `["receive"]`, `["send"]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			purpose, err := a.StringOr(0, "")
			if err != nil {
				return nil, err
			}
			switch purpose {
			case "", "receive", "send", "refund":
			default:
				return nil, errPurpose
			}
			labels, err := ask.Ask(ctx, w.ref, messages.ListLabels{Purpose: purpose})
			if err != nil {
				return nil, err
			}
			return labels, nil
		}),
	}
}
