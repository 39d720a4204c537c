package rawtxrpc

import (
	"context"

	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) utxoUpdatePSBT() command.Command {
	return command.Command{
		Name:     "utxoupdatepsbt",
		Category: command.RawTransactions,
		About:    command.Pure, Effect: command.Reads,
		Summary: "Puts into a partially signed transaction (BIP174) what its inputs spend, from the index of\n" +
			"transactions, the pool, or the unspent outputs, and what descriptors tell of its inputs and outputs.\n" +
			"Of an output that only the set of unspent outputs has, it must be spent by a witness.",
		Params: []command.Param{
			{Name: "psbt", Type: command.String, Help: "the partially signed transaction in base64"},
			descriptorsParam(true),
		},
		Results:  []command.Result{{Type: command.String, Help: "the partially signed transaction in base64"}},
		Examples: []string{`["psbt"]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			text, err := a.String(0)
			if err != nil {
				return nil, err
			}
			known := m.newKnown()
			if a.Has(1) {
				list, err := a.Array(1)
				if err != nil {
					return nil, err
				}
				options := func() error { return nil }
				if err := m.refuseEarly(ctx, list, false, options, text); err != nil {
					return nil, err
				}
				if err := m.addDescriptors(ctx, list, known, false); err != nil {
					return nil, err
				}
			}
			p, err := m.process(ctx, text, processing{known: known})
			if err != nil {
				return nil, err
			}
			return p.Encode(), nil
		},
	}
}
