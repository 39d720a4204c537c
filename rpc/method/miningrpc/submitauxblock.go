package miningrpc

import (
	"context"
	"encoding/hex"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func submitAuxBlock(d *Deps) command.Command {
	return command.Command{
		Name:     "submitauxblock",
		Category: command.Mining,
		About:    command.State, Effect: command.MovesTip,
		Summary: "Hands in the proof that a block of another chain commits to a block made by createauxblock, which " +
			"becomes part of the chain.",
		Params: []command.Param{
			{Name: "hash", Type: command.Hex, Help: "hash of the block"},
			{
				Name: "auxpow_hex", Type: command.Hex,
				Help: "the proof, serialized: as in blocks, or with the hash of the other chain's block " +
					"behind its coinbase",
			},
		},
		Results: []command.Result{
			{Type: command.Null, When: "if the block was accepted"},
			{
				Type: command.String, When: "otherwise",
				Help: "why it was not, in the words of BIP22; stale-prevblk: the node does not keep such a block",
			},
		},
		Examples: []string{`["hash", "auxpowhex"]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			hash, err := arg.Hash(a.Value(0), "hash")
			if err != nil {
				return nil, err
			}
			text, err := a.String(1)
			if err != nil {
				return nil, err
			}
			raw, err := hex.DecodeString(text)
			if err != nil {
				return nil, errAuxPoWDecode
			}
			payload, err := d.Network.MergedMining.Payload(raw)
			if err != nil {
				return nil, errAuxPoWDecode
			}
			_, err = ask.Ask(ctx, d.Actor, messages.SubmitAuxBlock{Hash: hash, Payload: payload})
			return bip22(err)
		},
	}
}

var errAuxPoWDecode = command.Error{Code: command.DeserializationError, Message: "AuxPow decode failed"}
