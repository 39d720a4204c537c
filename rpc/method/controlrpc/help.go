package controlrpc

import (
	"context"

	"github.com/seed61375155/trawl/rpc/command"
)

func help() command.Command {
	return command.Command{
		Name:     "help",
		Category: command.Control,
		About:    command.Program, Effect: command.Reads,
		Summary: "Lists all methods, or describes one.",
		Params: []command.Param{
			{Name: "command", Type: command.String, Default: "all commands", Help: "The method to describe"},
		},
		Results: []command.Result{
			{Type: command.String, Help: "The text"},
			{Type: command.Any, When: `for "dump_all_command_conversions"`},
		},
		Examples: []string{`[]`, `["getblockhash"]`},
		Control:  always,
		Run: func(_ context.Context, a *command.Args) (any, error) {
			if a.Len() == 0 {
				return a.Table.Help(""), nil
			}
			method, err := a.String(0) // null is no method
			if err != nil {
				return nil, err
			}
			if method == allConversions {
				return conversions(a.Table), nil
			}
			return a.Table.Help(method), nil
		},
	}
}

// allConversions asks for what clients without types have to know.
const allConversions = "dump_all_command_conversions"

// conversions has a row for each name of a parameter: method, position, name, and
// whether it is a string.
func conversions(t *command.Table) [][]any {
	rows := [][]any{}
	for _, c := range t.Conversions() {
		rows = append(rows, []any{c.Method, c.Position, c.Name, c.Text})
	}
	return rows
}
