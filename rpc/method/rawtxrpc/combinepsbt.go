package rawtxrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/rpc/command"
)

// packetsParam declares several partially signed transactions.
func packetsParam(help string) command.Param {
	return command.Param{
		Name: "txs", Type: command.Array, Help: help,
		Inner: []command.Param{{
			Name: "psbt", Type: command.String, Optional: true, Help: "a partially signed transaction in base64",
		}},
	}
}

// readPackets reads the partially signed transactions of argument 0.
func (m *methods) readPackets(a *command.Args, least int, tooFew string) ([]*psbt.Packet, error) {
	list, err := a.Array(0)
	if err != nil {
		return nil, err
	}
	if list.Len() < least {
		return nil, command.Error{Code: command.InvalidParameter, Message: tooFew}
	}
	packets := make([]*psbt.Packet, 0, list.Len())
	for _, v := range list.Elements() {
		text, err := v.AsString()
		if err != nil {
			return nil, err
		}
		p, err := m.readPacket(text)
		if err != nil {
			return nil, err
		}
		packets = append(packets, p)
	}
	return packets, nil
}

func (m *methods) combinePSBT() command.Command {
	return command.Command{
		Name:     "combinepsbt",
		Category: command.RawTransactions,
		About:    command.Pure, Effect: command.Reads,
		Summary: "Puts what several copies of a partially signed transaction (BIP174) have into the first: scripts,\n" +
			"signatures, derivations, and what is not known here. How inputs are to be signed, the fields of\n" +
			"MuSig2 (BIP373) and proprietary ones are kept of the first alone.",
		Params:   []command.Param{packetsParam("the copies")},
		Results:  []command.Result{{Type: command.String, Help: "the partially signed transaction in base64"}},
		Examples: []string{`[["mybase64_1", "mybase64_2", "mybase64_3"]]`},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			packets, err := m.readPackets(a, 1, "Parameter 'txs' cannot be empty")
			if err != nil {
				return nil, err
			}
			into := packets[0]
			for _, p := range packets[1:] {
				if !into.Combine(p) {
					return nil, command.Error{
						Code: command.InvalidParameter, Message: "PSBTs not compatible (different transactions)",
					}
				}
			}
			return into.Encode(), nil
		},
	}
}
