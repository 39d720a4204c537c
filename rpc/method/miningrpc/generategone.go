package miningrpc

import (
	"context"

	"github.com/seed61375155/trawl/rpc/command"
)

// goneWords are Core's words for a method that it had once: tools and tests look
// for these words.
const goneWords = "has been replaced by the -generate cli option. Refer to -help for more information."

func generate() command.Command {
	return command.Command{
		Name: "generate", Category: command.Hidden,
		About: command.State, Effect: command.MovesTip,
		Summary: goneWords,
		Run: func(context.Context, *command.Args) (any, error) {
			return nil, command.Usage(command.MethodNotFound)
		},
	}
}
