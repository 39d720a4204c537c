package miningrpc

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

var errBlockDecode = command.Error{Code: command.DeserializationError, Message: "Block decode failed"}

func submitBlock(d *Deps) command.Command {
	return command.Command{
		Name:     "submitblock",
		Category: command.Mining,
		About:    command.State, Effect: command.MovesTip,
		Summary: "Hands a block to the node, which validates it and makes it part of the chain (BIP22).",
		Params: []command.Param{
			{Name: "hexdata", Type: command.Hex, Help: "the serialized block"},
			{
				Name: "dummy", Type: command.String, Default: "ignored",
				Help: "there because BIP22 has a second parameter",
			},
		},
		Results: []command.Result{
			{Type: command.Null, When: "if the block was accepted"},
			{Type: command.String, When: "otherwise", Help: "why it was not, in the words of BIP22"},
		},
		Examples: []string{`["mydata"]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			text, err := a.String(0)
			if err != nil {
				return nil, err
			}
			raw, err := d.decodeBlock(text)
			if err != nil {
				return nil, err
			}
			_, err = ask.Ask(ctx, d.Actor, messages.SubmitBlock{Raw: raw})
			return bip22(err)
		},
	}
}

// bip22 answers for a block with the rule that it breaks, null for none.
func bip22(err error) (any, error) {
	if reject, ok := errors.AsType[*messages.RejectError](err); ok {
		return cmp.Or(reject.Reason, "rejected"), nil
	}
	return nil, err
}

// decodeBlock returns the bytes of the block that the text begins with. As in
// Core, what follows it is ignored.
func (d *Deps) decodeBlock(text string) ([]byte, error) {
	raw, err := hex.DecodeString(text)
	if err != nil {
		return nil, errBlockDecode
	}
	_, size, err := d.Network.ReadBlock(raw)
	if err != nil {
		return nil, errBlockDecode
	}
	return raw[:size], nil
}
