package netrpc

import (
	"context"

	"github.com/seed61375155/trawl/rpc/command"
)

func exportASMap() command.Command {
	return command.Command{
		Name:     "exportasmap",
		Category: command.Network,
		About:    command.State, Since: 32, // beside a Core that has a map it writes a file of that node's user
		Summary: "Writes the map of autonomous systems that is built into the program to a file. Here none is: " +
			"-asmap takes one from a file.",
		Params: []command.Param{{Name: "path", Type: command.String, Help: "the file"}},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "path", Help: "full path of the file"},
			{Type: command.Number, Key: "bytes_written", Help: "its length"},
			{Type: command.Hex, Key: "file_hash", Help: "SHA256 of it"},
		}}},
		Examples: []string{`["asmap.dat"]`},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			if _, err := a.String(0); err != nil {
				return nil, err
			}
			return nil, command.Error{Code: command.MiscError, Message: "No embedded ASMap data available"}
		},
	}
}
