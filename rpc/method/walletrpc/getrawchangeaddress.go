package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) getRawChangeAddress() command.Command {
	return command.Command{
		Name:     "getrawchangeaddress",
		Category: command.Wallet,
		About:    command.Funds,
		Summary:  "Returns a new address for change of a transaction that the client builds.",
		Params: []command.Param{
			{Name: "address_type", Type: command.String, Default: "set by -changetype", Help: "type of the address: " +
				addressTypes},
		},
		Results:  []command.Result{{Type: command.String, Help: "the address"}},
		Examples: []string{`[]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			return newAddress(ctx, w, a, 0, messages.NewAddress{Change: true})
		}),
	}
}
