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

// readPackets reads the partially signed transactions of argument 0, and checks each before it reads the next.
func (m *methods) readPackets(
	a *command.Args, least int, tooFew string, check func(*psbt.Packet) error,
) ([]*psbt.Packet, error) {
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
		if err == nil {
			err = check(p)
		}
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
		Summary: "Puts what several copies of a partially signed transaction (BIP174, BIP370) have into the first:\n" +
			"scripts, signatures, derivations, and what is not known here. How inputs are to be signed and, in\n" +
			"version 0, proprietary fields are kept of the first alone. All copies have the same version.",
		Params:   []command.Param{packetsParam("the copies")},
		Results:  []command.Result{{Type: command.String, Help: "the partially signed transaction in base64"}},
		Examples: []string{`[["mybase64_1", "mybase64_2", "mybase64_3"]]`},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			packets, err := m.readPackets(
				a, 1, "Parameter 'txs' cannot be empty", func(*psbt.Packet) error { return nil },
			)
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
