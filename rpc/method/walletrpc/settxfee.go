package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) setTxFee() command.Command {
	return command.Command{
		Name:     "settxfee",
		Category: command.Wallet,
		About:    command.Funds, Until: 32,
		Summary: "(DEPRECATED) Sets the fee rate that the wallet pays where a request names none, until it is\n" +
			"unloaded. Served with -deprecatedrpc=settxfee only.",
		Params: []command.Param{
			{Name: "amount", Type: command.Amount, Help: "fee rate for 1000 virtual bytes; 0 for an estimate"},
		},
		Results:  []command.Result{{Type: command.Bool, Help: "true"}},
		Examples: []string{`[0.00001]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			if !m.SetTxFee {
				return nil, command.Error{
					Code: command.MethodDeprecated,
					Message: "settxfee is deprecated and will be fully removed in v31.0." +
						"\nTo use settxfee restart " + m.Network.Software.Daemon + " with -deprecatedrpc=settxfee.",
				}
			}
			rate, err := a.Amount(0, jsontree.Amount(m.Network.Rules.MaxMoney))
			if err != nil {
				return nil, err
			}
			_, err = ask.Ask(ctx, w.ref, messages.SetPayFee{Rate: int64(rate)})
			return true, err
		}),
	}
}
