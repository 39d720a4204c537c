package control

import (
	"context"

	"github.com/seed61375155/trawl/rpc/command"
)

func help() command.Command {
	return command.Command{
		Name:     "help",
		Category: command.Control,
		Summary:  "Lists all methods, or describes one.",
		Params: []command.Param{
			{Name: "command", Type: command.String, Default: "all commands", Help: "The method to describe"},
		},
		Results: []command.Result{
			{Type: command.String, Help: "The text"},
		},
		Examples: []string{`[]`, `["getblockhash"]`},
		Control:  always,
		Run: func(_ context.Context, a *command.Args) (any, error) {
			method, err := a.StringOr(0, "")
			if err != nil {
				return nil, err
			}
			return a.Table.Help(method), nil
		},
	}
}
