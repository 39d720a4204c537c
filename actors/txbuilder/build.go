package txbuilder

import (
	"context"
	"slices"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/messages"
)

// build returns the transaction, or the first error in the order that
// [messages.BuildTx] promises. It ends early when ctx does.
func build(ctx context.Context, cfg *Config, req *messages.BuildTx) (*wire.MsgTx, error) {
	if cfg.fault != nil {
		cfg.fault(req)
	}
	if req.Version < messages.MinTxVersion || req.Version > messages.MaxTxVersion {
		return nil, messages.ErrTxVersion
	}
	outputs, err := buildOutputs(ctx, cfg.Net, req.Outputs)
	switch {
	case err != nil:
		return nil, err
	case req.Unread != nil:
		return nil, req.Unread
	case len(outputs) == 0 && !cfg.AllowNoOutputs:
		return nil, messages.ErrNoTxOutputs
	}
	tx := &wire.MsgTx{
		Version:  int32(req.Version),
		LockTime: req.LockTime,
		TxIn:     buildInputs(req),
		TxOut:    outputs,
	}
	if req.Replaceable != nil && *req.Replaceable && len(tx.TxIn) > 0 && !slices.ContainsFunc(tx.TxIn, replaceable) {
		return nil, messages.ErrTxReplaceable
	}
	return tx, nil
}

// replaceable reports whether an input says that its transaction may be
// replaced. One such input is enough (BIP125).
func replaceable(in *wire.TxIn) bool { return in.Sequence <= messages.MaxReplaceableSequence }

func buildInputs(req *messages.BuildTx) []*wire.TxIn {
	inputs := make([]*wire.TxIn, len(req.Inputs))
	for i, in := range req.Inputs {
		inputs[i] = &wire.TxIn{PreviousOutPoint: in.OutPoint, Sequence: defaultSequence(req)}
		if in.Sequence != nil {
			inputs[i].Sequence = *in.Sequence
		}
	}
	return inputs
}

// defaultSequence returns the sequence number of inputs that have none of their
// own. A lock time needs a sequence number that is not final.
func defaultSequence(req *messages.BuildTx) uint32 {
	switch {
	case req.Replaceable == nil || *req.Replaceable:
		return messages.MaxReplaceableSequence
	case req.LockTime != 0:
		return wire.MaxTxInSequenceNum - 1
	default:
		return wire.MaxTxInSequenceNum
	}
}

// buildOutputs makes the outputs in their order. Destinations are compared as
// scripts, because an address can be spelled in two ways.
func buildOutputs(ctx context.Context, net *descriptor.Network, outputs []messages.TxOutput) ([]*wire.TxOut, error) {
	made := make([]*wire.TxOut, len(outputs))
	paid := make(map[string]struct{}, len(outputs))
	for i, out := range outputs {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if out.Data != nil {
			made[i] = &wire.TxOut{PkScript: rawtx.DataScript(out.Data)}
			continue
		}
		script, err := descriptor.ScriptOfAddress(out.Address, net)
		if err != nil {
			return nil, &messages.TxAddressError{Address: out.Address, Err: messages.ErrTxAddress}
		}
		if _, twice := paid[string(script)]; twice {
			return nil, &messages.TxAddressError{Address: out.Address, Err: messages.ErrTxAddressTwice}
		}
		paid[string(script)] = struct{}{}
		made[i] = &wire.TxOut{Value: int64(out.Amount), PkScript: script}
	}
	return made, nil
}
