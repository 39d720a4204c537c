package controlrpc

import (
	"context"
	"time"

	"github.com/seed61375155/trawl/rpc/command"
)

func uptime(n Node) command.Command {
	return command.Command{
		Name:     "uptime",
		Category: command.Control,
		About:    command.Program, Effect: command.Reads,
		Summary: "Returns how long the node has been running.",
		Results: []command.Result{
			{Type: command.Number, Help: "Seconds since the node was started"},
		},
		Examples: []string{`[]`},
		Control:  always,
		Run: func(context.Context, *command.Args) (any, error) {
			if n.Now == nil {
				return int64(time.Since(n.Started).Seconds()), nil
			}
			return n.Now().Unix() - n.Started.Unix(), nil
		},
	}
}
