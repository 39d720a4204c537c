package rawtx

import (
	"bytes"
	"context"

	"github.com/btcsuite/btcd/wire"

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
func readPacket(text string) (*psbt.Packet, error) {
	p, err := psbt.Decode(text)
	if err != nil {
		return nil, command.Errorf(command.DeserializationError, "TX decode failed %v", err)
	}
	return p, nil
}

func (m *methods) finalizePSBT() command.Command {
	return command.Command{
		Name:     "finalizepsbt",
		Category: command.RawTransactions,
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
			p, err := readPacket(text)
			if err != nil {
				return nil, err
			}
			extract, err := a.BoolOr(1, true)
			if err != nil {
				return nil, err
			}
			s := m.Network.NewSigning(p.Extract(), make(map[wire.OutPoint]*wire.TxOut))
			complete := s.Finalize(p)
			if complete && extract {
				return finalized{Hex: encodeTx(p.Extract()), Complete: true}, nil
			}
			return finalized{PSBT: p.Encode(), Complete: complete}, nil
		},
	}
}

func combinePSBT() command.Command {
	return command.Command{
		Name:     "combinepsbt",
		Category: command.RawTransactions,
		Summary:  "Puts what several copies of a partially signed transaction (BIP174) have into one.",
		Params: []command.Param{{
			Name: "txs", Type: command.Array, Help: "the copies",
			Inner: []command.Param{{
				Name: "psbt", Type: command.String, Optional: true, Help: "a partially signed transaction in base64",
			}},
		}},
		Results:  []command.Result{{Type: command.String, Help: "the partially signed transaction in base64"}},
		Examples: []string{`[["mybase64_1", "mybase64_2", "mybase64_3"]]`},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			list, err := a.Array(0)
			if err != nil {
				return nil, err
			}
			if list.Len() == 0 {
				return nil, command.Error{
					Code: command.InvalidParameter, Message: "Parameter 'txs' cannot be empty",
				}
			}
			var packets []*psbt.Packet
			for _, v := range list.Elements() {
				text, err := v.AsString()
				if err != nil {
					return nil, err
				}
				p, err := readPacket(text)
				if err != nil {
					return nil, err
				}
				packets = append(packets, p)
			}
			return combine(packets)
		},
	}
}

// combine puts what packets have into the first.
func combine(packets []*psbt.Packet) (any, error) {
	into := packets[0]
	unsigned := psbt.Serialize(into.Tx, false)
	for _, p := range packets[1:] {
		if !bytes.Equal(psbt.Serialize(p.Tx, false), unsigned) {
			return nil, command.Error{
				Code: command.InvalidParameter, Message: "PSBTs not compatible (different transactions)",
			}
		}
		into.Global.Merge(p.Global)
		for i := range into.Inputs {
			into.Inputs[i].Merge(p.Inputs[i])
		}
		for i := range into.Outputs {
			into.Outputs[i].Merge(p.Outputs[i])
		}
	}
	return into.Encode(), nil
}
