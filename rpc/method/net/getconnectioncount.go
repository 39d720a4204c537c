package net

import (
	"context"

	"github.com/seed61375155/trawl/rpc/command"
)

func getConnectionCount() command.Command {
	return command.Command{
		Name:     "getconnectioncount",
		Category: command.Network,
		Summary:  "Returns how many peers the node is connected to.",
		Results:  []command.Result{{Type: command.Number, Help: "the number of connections"}},
		Examples: []string{`[]`},
		Run:      func(context.Context, *command.Args) (any, error) { return 0, nil },
	}
}
