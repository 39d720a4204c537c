package netrpc

import (
	"context"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func getConnectionCount(d *Deps) command.Command {
	return command.Command{
		Name:     "getconnectioncount",
		Category: command.Network,
		About:    command.State, Effect: command.Reads,
		Summary:  "Returns how many peers the node is connected to.",
		Results:  []command.Result{{Type: command.Number, Help: "the number of connections"}},
		Examples: []string{`[]`},
		Run: func(ctx context.Context, _ *command.Args) (any, error) {
			if d.Peers.IsAbsent() {
				return 0, nil
			}
			n, err := tell(ctx, d, messages.CountPeers{})
			return n.In + n.Out, err
		},
	}
}
