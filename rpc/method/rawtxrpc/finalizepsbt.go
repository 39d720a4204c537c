package rawtxrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/rpc/command"
)

// finalized is a partially signed transaction with its final scripts, or the transaction.
type finalized struct {
	PSBT     string `json:"psbt,omitempty"`
	Hex      string `json:"hex,omitempty"`
	Complete bool   `json:"complete"`
}

// readPacket reads a partially signed transaction.
func (m *methods) readPacket(text string) (*psbt.Packet, error) {
	p, err := m.Network.DecodePSBT(text)
	if err != nil {
		return nil, command.Errorf(command.DeserializationError, "TX decode failed %v", err)
	}
	return p, nil
}

func (m *methods) finalizePSBT() command.Command {
	return command.Command{
		Name:     "finalizepsbt",
		Category: command.RawTransactions,
		About:    command.Pure, Effect: command.Reads,
		Summary: "Makes the final scripts of the inputs of a partially signed transaction (BIP174) that have all\n" +
			"signatures. If that are all inputs, the transaction is returned that can be sent.",
		Params: []command.Param{
			{Name: "psbt", Type: command.String, Help: "the partially signed transaction in base64"},
			{
				Name: "extract", Type: command.Bool, Default: "true",
				Help: "whether the transaction is returned, if it is complete, in place of the PSBT",
			},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "psbt", Optional: true, Help: "the partially signed transaction in base64"},
			{Type: command.Hex, Key: "hex", Optional: true, Help: "the transaction"},
			{Type: command.Bool, Key: "complete", Help: "whether it has all signatures"},
		}}},
		Examples: []string{`["psbt"]`},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			text, err := a.String(0)
			if err != nil {
				return nil, err
			}
			p, err := m.readPacket(text)
			if err != nil {
				return nil, err
			}
			extract, err := a.BoolOr(1, true)
			if err != nil {
				return nil, err
			}
			complete := rawtx.NewPacketSigning(p, m.Network.NewSigning).Finalize()
			if complete && extract {
				return finalized{Hex: encodeTx(p.Extract()), Complete: true}, nil
			}
			return finalized{PSBT: p.Encode(), Complete: complete}, nil
		},
	}
}
