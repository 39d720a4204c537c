package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

var errKeypoolSize = command.Error{
	Code: command.InvalidParameter, Message: "Invalid parameter, expected valid size.",
}

func (m *methods) keypoolRefill() command.Command {
	return command.Command{
		Name:     "keypoolrefill",
		Category: command.Wallet,
		About:    command.Funds,
		Summary:  "Derives addresses ahead for each active descriptor. The wallet must be unlocked.",
		Params: []command.Param{
			{
				Name: "newsize", Type: command.Number, Default: "1000, or as set by -keypool",
				Help: "how many addresses there are to be",
			},
		},
		Results:  noResult,
		Examples: []string{`[]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			size, err := a.Int32Or(0, 0)
			if err != nil {
				return nil, err
			}
			if size < 0 {
				return nil, errKeypoolSize
			}
			_, err = ask.Ask(ctx, w.ref, messages.KeypoolRefill{Size: int(size)})
			return nil, err
		}),
	}
}
