package rawtxrpc

import (
	"context"

	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) createRawTransaction() command.Command {
	return command.Command{
		Name:     "createrawtransaction",
		Category: command.RawTransactions,
		About:    command.Pure, Effect: command.Reads,
		Summary: "Builds a transaction that spends the given inputs and creates the given outputs.\n" +
			"It is not signed, not checked against the chain, and neither kept nor sent.",
		Params:  buildParams(),
		Results: []command.Result{{Type: command.Hex, Help: "the serialized transaction"}},
		Examples: []string{
			`[[{"txid":"myid","vout":0}], [{"address":0.01}]]`,
			`[[{"txid":"myid","vout":0}], [{"data":"00010203"}]]`,
		},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			tx, err := m.build(ctx, a)
			if err != nil {
				return nil, err
			}
			return encodeTx(tx), nil
		},
	}
}
