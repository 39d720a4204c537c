package rawtxrpc

import (
	"context"

	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) decodePSBT() command.Command {
	return command.Command{
		Name:     "decodepsbt",
		Category: command.RawTransactions,
		About:    command.Pure, Effect: command.Reads,
		Summary: "Shows a partially signed transaction (BIP174, BIP370) as an object.",
		Params: []command.Param{
			{Name: "psbt", Type: command.String, Help: "the partially signed transaction in base64"},
		},
		Results:  packetResults(scriptResults()),
		Examples: []string{`["psbt"]`},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			text, err := a.String(0)
			if err != nil {
				return nil, err
			}
			packet, err := m.readPacket(text)
			if err != nil {
				return nil, err
			}
			return showPacket(m.printer, packet, btcutil.Amount(m.Network.Rules.MaxMoney)), nil
		},
	}
}
