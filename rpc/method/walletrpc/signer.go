package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) walletDisplayAddress() command.Command {
	return command.Command{
		Name:     "walletdisplayaddress",
		Category: command.Wallet,
		About:    command.Funds,
		Summary:  "Shows an address on the wallet's signing device. It fails if the device shows another one.",
		Params:   []command.Param{{Name: "address", Type: command.String, Help: "address of the wallet"}},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "address", Help: "the address that the device shows"},
		}}},
		Examples: []string{`["` + exampleAddress + `"]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			address, err := a.String(0)
			if err != nil {
				return nil, err
			}
			script, err := descriptor.ScriptOfAddress(address, m.net)
			if err != nil {
				return nil, command.Error{Code: command.InvalidAddressOrKey, Message: "Invalid address"}
			}
			if _, err := ask.Ask(ctx, w.ref, messages.DisplayAddress{Script: script}); err != nil {
				return nil, told(err)
			}
			return struct {
				Address string `json:"address"`
			}{address}, nil
		}),
	}
}
