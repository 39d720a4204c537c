package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) getNewAddress() command.Command {
	return command.Command{
		Name:     "getnewaddress",
		Category: command.Wallet,
		About:    command.Funds,
		Summary:  "Returns a new address to be paid at, and gives it a label.",
		Params: []command.Param{
			{Name: "label", Type: command.String, Default: `""`, Help: "label of the address; it need not be in use yet"},
			{Name: "address_type", Type: command.String, Default: "set by -addresstype", Help: "type of the address: " +
				addressTypes},
		},
		Results:  []command.Result{{Type: command.String, Help: "the address"}},
		Examples: []string{`[]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			// The wallet refuses labels, because first of all it says whether
			// it has keys.
			label, err := a.StringOr(0, "")
			if err != nil {
				return nil, err
			}
			return newAddress(ctx, w, a, 1, messages.NewAddress{Label: label})
		}),
	}
}

// newAddress asks for an address of the type that argument i names.
func newAddress(ctx context.Context, w chosen, a *command.Args, i int, q messages.NewAddress) (any, error) {
	var err error
	q.HasType = a.Has(i)
	if q.Type, err = a.StringOr(i, ""); err != nil {
		return nil, err
	}
	address, err := ask.Ask(ctx, w.ref, q)
	if err != nil {
		return nil, err
	}
	return address, nil
}
