package controlrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/version"
	"github.com/seed61375155/trawl/rpc/command"
)

// openRPC returns a method that describes all methods. The OpenRPC
// specification reserves the name rpc.discover for such a method, which has no parameters.
func openRPC(name, category string) command.Command {
	c := command.Command{
		Name:     name,
		Category: category,
		About:    command.Program, Effect: command.Reads,
		Unlisted: true, Own: true,
		Summary: "Describes all methods for programs: an OpenRPC document with the types of parameters and results.\n" +
			"Members whose name begins with \"x-\" are additions to the specification.",
		Results: []command.Result{
			{Type: command.Object, Inner: []command.Result{
				{Type: command.String, Key: "openrpc", Help: "Version of the OpenRPC specification"},
				{Type: command.Object, Key: "info", Help: "What the document describes", Inner: []command.Result{
					{Type: command.String, Key: "title", Help: "Name of the service"},
					{Type: command.String, Key: "version", Help: "Version of the service"},
				}},
				{
					Type: command.Array, Key: "methods", Help: "The methods, by category and name",
					Inner: []command.Result{
						{Type: command.Object, Inner: []command.Result{
							{Type: command.String, Key: "name", Help: "Name of the method"},
							{Type: command.Elision, Help: "and what the specification says of method objects"},
						}},
					},
				},
			}},
		},
		Examples: []string{`[]`},
		Control:  always,
		Run: func(_ context.Context, a *command.Args) (any, error) {
			hidden, err := a.BoolOr(0, false)
			if err != nil {
				return nil, err
			}
			return a.Table.OpenRPC("Trawl", version.Number, hidden), nil
		},
	}
	if category != command.Hidden {
		c.Params = []command.Param{{
			Name: "show_hidden", Type: command.Bool, Default: "false",
			Help: "whether methods and parameters that are for tests are described, too",
		}}
	}
	return c
}
