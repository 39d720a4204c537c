package net

import (
	"context"

	"github.com/seed61375155/trawl/rpc/command"
)

func getPeerInfo() command.Command {
	return command.Command{
		Name:     "getpeerinfo",
		Category: command.Network,
		Summary:  "Returns the peers that the node is connected to.",
		Results: []command.Result{{Type: command.Array, Inner: []command.Result{
			{Type: command.Object, Inner: []command.Result{
				{Type: command.Number, Key: "id", Help: "number of the connection"},
				{Type: command.String, Key: "addr", Help: "address and port of the peer"},
			}},
		}}},
		Examples: []string{`[]`},
		Run:      func(context.Context, *command.Args) (any, error) { return []any{}, nil },
	}
}
