package controlrpc

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
		About:    command.Program, Effect: command.Reads,
		Summary: "Hands its arguments back as an array. It is there for tests of clients.\n" +
			"With arg9=" + triggerBug + " it fails as over a bug of the program.",
		Params:   params,
		Results:  []command.Result{{Type: command.Any, Help: "The arguments"}},
		Examples: []string{`["a", 1]`},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			if text, err := a.StringOr(echoParams-1, ""); err == nil && text == triggerBug {
				return nil, errTriggeredBug
			}
			values := jsontree.NewArray()
			for i := range a.Len() {
				values.Append(a.Value(i))
			}
			return values, nil
		},
	}
}

// triggerBug is the text that makes echo fail, for tests of clients.
const triggerBug = "trigger_internal_bug"

var errTriggeredBug = command.Error{
	Code:    command.MiscError,
	Message: `Internal bug detected: request.params[9].get_str() != "` + triggerBug + `"`,
}

// echoIPC returns the method that Core passes to another process where it has one. Here
// there is none.
func echoIPC() command.Command {
	return command.Command{
		Name:     "echoipc",
		Category: command.Hidden,
		About:    command.Program, Effect: command.Reads,
		Summary:  "Hands its argument back. It is there for tests of clients; no other process is asked.",
		Params:   []command.Param{{Name: "arg", Type: command.String, Help: "the text"}},
		Results:  []command.Result{{Type: command.String, Help: "the same text"}},
		Examples: []string{`["Hello world"]`},
		Run:      func(_ context.Context, a *command.Args) (any, error) { return a.String(0) },
	}
}
