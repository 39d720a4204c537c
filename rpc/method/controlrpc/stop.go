package controlrpc

import (
	"context"
	"time"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// maxStopWait bounds the wait of stop, which holds up the end of the server.
const maxStopWait = time.Minute

func stop(n Node) command.Command {
	return command.Command{
		Name:     "stop",
		Category: command.Control,
		About:    command.Program, Effect: command.Ends,
		Summary: "Asks the node to shut down. It has begun to when the answer arrives.",
		Params: []command.Param{
			{
				Name: "wait", Type: command.Number, Optional: true, Hidden: true,
				Help: "how many milliseconds to hold back the answer",
			},
		},
		Results: []command.Result{
			{Type: command.String, Help: "What is going on, for people"},
		},
		Examples: []string{`[]`},
		Control:  always,
		Run: func(_ context.Context, a *command.Args) (any, error) {
			if n.Stop == nil {
				return nil, command.Errorf(command.MiscError, "The program that this node is a part of stops it")
			}
			n.Stop()
			if a.Value(0).Kind() == jsontree.Number {
				ms, err := a.Int32(0)
				if err != nil {
					return nil, err
				}
				time.Sleep(min(time.Duration(ms)*time.Millisecond, maxStopWait))
			}
			return n.Name + " stopping", nil
		},
	}
}
