package miningrpc

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

var errHeaderDecode = command.Error{Code: command.DeserializationError, Message: "Block header decode failed"}

func submitHeader(d *Deps) command.Command {
	return command.Command{
		Name:     "submitheader",
		Category: command.Mining,
		About:    command.State, Effect: command.MovesTip,
		Summary: "Hands a block header to the node, which makes it part of the block tree when it is valid.",
		Params: []command.Param{
			{Name: "hexdata", Type: command.Hex, Help: "the serialized header"},
		},
		Results:  []command.Result{{Type: command.Null}},
		Examples: []string{`["aabbcc"]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			text, err := a.String(0)
			if err != nil {
				return nil, err
			}
			raw, err := hex.DecodeString(text)
			size := d.Network.HeaderLen(raw)
			if err != nil || size < 0 || len(raw) < size {
				return nil, errHeaderDecode
			}
			return nil, d.submitHeader(ctx, raw[:size])
		},
	}
}

// submitHeader asks the chain to take a header. As in Core, bytes after it do not
// matter.
func (d *Deps) submitHeader(ctx context.Context, raw []byte) error {
	reader := d.Chain.Open()
	if reader == nil {
		return chainview.ErrNotReady
	}
	const parentAt = 4 // after the version
	parent := chainhash.Hash(raw[parentAt : parentAt+chainhash.HashSize])
	if reader.Lookup(&parent) == nil {
		return command.Error{
			Code: command.VerifyError, Message: "Must submit previous header (" + parent.String() + ") first",
		}
	}
	_, err := ask.Ask(ctx, d.Actor, nodemsg.AcceptHeaders{Headers: [][]byte{raw}})
	if reject, ok := errors.AsType[*messages.RejectError](err); ok {
		return command.Error{Code: command.VerifyError, Message: reject.Reason}
	}
	return err
}
