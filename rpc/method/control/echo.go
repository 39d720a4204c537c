package control

import (
	"context"
	"fmt"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// echoParams is how many parameters echo has.
const echoParams = 10

// echo returns one of the two methods that hand their arguments back. They
// differ only for the command line client, which sends strings to the one
// and JSON to the other.
func echo(name string) command.Command {
	params := make([]command.Param, echoParams)
	for i := range params {
		params[i] = command.Param{
			Name: fmt.Sprintf("arg%d", i), Type: command.String, Optional: true, AnyType: true,
			Help: "anything",
		}
	}
	return command.Command{
		Name:     name,
		Category: command.Hidden,
		Summary:  "Hands its arguments back as an array. It is there for tests of clients.",
		Params:   params,
		Results:  []command.Result{{Type: command.Any, Help: "The arguments"}},
		Examples: []string{`["a", 1]`},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			values := jsontree.NewArray()
			for i := range a.Len() {
				values.Append(a.Value(i))
			}
			return values, nil
		},
	}
}
