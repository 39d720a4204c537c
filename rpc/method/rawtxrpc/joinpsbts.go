package rawtxrpc

import (
	"context"
	"math/rand/v2"

	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) joinPSBTs() command.Command {
	return command.Command{
		Name:     "joinpsbts",
		Category: command.RawTransactions,
		About:    command.Pure, Effect: command.Reads,
		Summary: "Makes one partially signed transaction of several different ones of version 0 (BIP174), with the\n" +
			"inputs and outputs of all in random order. Signatures by ECDSA and final scripts are left out. The\n" +
			"result has the highest version and the lowest lock time of them.",
		Params:   []command.Param{packetsParam("the transactions, at least two, which have no input in common")},
		Results:  []command.Result{{Type: command.String, Help: "the partially signed transaction in base64"}},
		Examples: []string{`[["mybase64_1", "mybase64_2"]]`},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			packets, err := m.readPackets(a, 2, "At least two PSBTs are required to join PSBTs.", onlyV0)
			if err != nil {
				return nil, err
			}
			joined, twice := psbt.Join(packets)
			if twice != nil {
				return nil, command.Errorf(command.InvalidParameter, "Input %v exists in multiple PSBTs", twice)
			}
			joined.Shuffle(rand.Shuffle)
			return joined.Encode(), nil
		},
	}
}

func onlyV0(p *psbt.Packet) error {
	if p.Version != 0 {
		return command.Error{
			Code: command.InvalidParameter, Message: "joinpsbts only operates on version 0 PSBTs",
		}
	}
	return nil
}
