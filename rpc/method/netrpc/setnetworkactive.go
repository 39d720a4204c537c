package netrpc

import (
	"context"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func setNetworkActive(d *Deps) command.Command {
	return command.Command{
		Name:     "setnetworkactive",
		Category: command.Network,
		About:    command.State,
		Summary:  "Ends all connections and makes none, or makes connections again.",
		Params: []command.Param{
			{Name: "state", Type: command.Bool, Help: "true for connections, false for none"},
		},
		Results:  []command.Result{{Type: command.Bool, Help: "the value that was given"}},
		Examples: []string{`[true]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			on, err := a.Bool(0)
			if err != nil {
				return nil, err
			}
			_, err = tell(ctx, d, messages.SetNetworkActive{Active: on})
			return on, err
		},
	}
}
