package netrpc

import (
	"context"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func ping(d *Deps) command.Command {
	return command.Command{
		Name:     "ping",
		Category: command.Network,
		About:    command.State,
		Summary: "Sends a ping to every peer. What it takes is in getpeerinfo: pingtime and pingwait.\n" +
			"The answer comes behind what the peer has to do anyway, so that it measures this, too.",
		Results:  []command.Result{{Type: command.Null}},
		Examples: []string{`[]`},
		Run: func(ctx context.Context, _ *command.Args) (any, error) {
			_, err := tell(ctx, d, messages.PingPeers{})
			return nil, err
		},
	}
}
