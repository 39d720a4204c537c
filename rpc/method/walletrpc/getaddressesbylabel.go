package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// purpose is what an address is there for.
type purpose struct {
	Purpose string `json:"purpose"`
}

func (m *methods) getAddressesByLabel() command.Command {
	return command.Command{
		Name:     "getaddressesbylabel",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads,
		Summary: "Returns the addresses with a label.",
		Params:  []command.Param{{Name: "label", Type: command.String, Help: "the label"}},
		Results: []command.Result{{Type: command.UserKeys, Help: "the addresses are the keys", Inner: []command.Result{
			{Type: command.Object, Key: "address", Help: "what is known of the address", Inner: []command.Result{
				{
					Type: command.String, Key: "purpose",
					Help: "\"receive\" for an address of the wallet, \"send\" for one that it pays to",
				},
			}},
		}}},
		Examples: []string{`["tabby"]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			name, err := label(a.Value(0))
			if err != nil {
				return nil, err
			}
			got, err := ask.Ask(ctx, w.ref, messages.GetAddressesByLabel{Label: name})
			if err != nil {
				return nil, err
			}
			addresses := make(jsontree.Members, len(got))
			for i, entry := range got {
				addresses[i] = jsontree.Member{Key: entry.Address, Value: purpose{entry.Purpose}}
			}
			return addresses, nil
		}),
	}
}
