package chainrpc

import (
	"context"
	"errors"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func syncWithValidationInterfaceQueue(d *Deps) command.Command {
	return command.Command{
		Name:     "syncwithvalidationinterfacequeue",
		Category: command.Hidden,
		About:    command.State,
		Summary:  "Waits until the filter index has followed every change of the chain that came before the call.",
		Results:  []command.Result{{Type: command.Null}},
		Examples: []string{`[]`},
		Run: func(ctx context.Context, _ *command.Args) (any, error) {
			if d.Index == nil {
				return nil, nil
			}
			_, err := ask.Ask(ctx, d.Index.Indexer, messages.WaitIndexIdle{})
			if errors.Is(err, chainview.ErrNotYet) {
				err = nil // it has all that is validated
			}
			return nil, err
		},
	}
}
