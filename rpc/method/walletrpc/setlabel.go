package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) setLabel() command.Command {
	return command.Command{
		Name:     "setlabel",
		Category: command.Wallet,
		About:    command.Funds,
		Summary:  "Gives an address a label. The address may be one that the wallet pays to.",
		Params: []command.Param{
			{Name: "address", Type: command.String, Help: "the address"},
			{Name: "label", Type: command.String, Help: "the label"},
		},
		Results:  noResult,
		Examples: []string{`["` + exampleAddress + `", "tabby"]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			text, err := a.String(0)
			if err != nil {
				return nil, err
			}
			script, err := m.script(text, "")
			if err != nil {
				return nil, err
			}
			name, err := label(a.Value(1))
			if err != nil {
				return nil, err
			}
			_, err = ask.Ask(ctx, w.ref, messages.SetLabel{Address: m.addressOf(script), Script: script, Label: name})
			return nil, err
		}),
	}
}
