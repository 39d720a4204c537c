package arg

import (
	"encoding/hex"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// PrevOutParams declares the members of an output that a client brings.
func PrevOutParams() []command.Param {
	return []command.Param{
		{Name: "txid", Type: command.Hex, Help: "id of the transaction with the output"},
		{Name: "vout", Type: command.Number, Help: "number of the output"},
		{Name: "scriptPubKey", Type: command.Hex, Help: "its script"},
		{Name: "redeemScript", Type: command.Hex, Optional: true, Help: "(required for P2SH) the script it pays to"},
		{
			Name: "witnessScript", Type: command.Hex, Optional: true,
			Help: "(required for P2WSH or P2SH-P2WSH) the script it pays to",
		},
		{Name: "amount", Type: command.Amount, Optional: true, Help: "(required for Segwit inputs) its value"},
	}
}

// Payable returns a function that reports whether outputs of a network can pay to a script, by the height of its tip.
// The argument may reports whether a block at a height can have the script. Both are nil where every script is
// allowed. Errors come from height.
func Payable(
	net *descriptor.Network, may func(script []byte, height int32) bool, height func() (int32, error),
) (func(script []byte) bool, error) {
	if may == nil {
		return nil, nil //nolint:nilnil // nil stands for every script
	}
	tip, err := height()
	if err != nil {
		return nil, err
	}
	return func(script []byte) bool { return net.Allows(script) && may(script, tip) }, nil
}

// PrevOut reads which output a client brings, and its script, to which outputs must be able to pay: see [Payable].
func PrevOut(v *jsontree.Value, payable func(script []byte) bool) (at wire.OutPoint, script []byte, err error) {
	if v.Kind() != jsontree.Object {
		return at, nil, command.Error{
			Code: command.DeserializationError, Message: `expected object with {"txid'","vout","scriptPubKey"}`,
		}
	}
	if err := checkPrevOut(v); err != nil {
		return at, nil, err
	}
	if at.Hash, err = Hash(v.Get("txid"), "txid"); err != nil {
		return at, nil, err
	}
	index, err := v.Get("vout").AsInt32()
	if err != nil {
		return at, nil, err
	}
	if index < 0 {
		return at, nil, command.Error{Code: command.DeserializationError, Message: "vout cannot be negative"}
	}
	at.Index = uint32(index)
	text := v.Get("scriptPubKey").Text()
	script, err = hex.DecodeString(text)
	if err != nil || len(script) == 0 {
		return at, nil, command.Errorf(
			command.InvalidParameter, "scriptPubKey must be hexadecimal string (not '%s')", text,
		)
	}
	if payable != nil && !payable(script) {
		return at, nil, command.Error{
			Code:    command.InvalidParameter,
			Message: "Only restricted-output-mode prevout scriptPubKeys are supported on this chain",
		}
	}
	return at, script, nil
}

// checkPrevOut checks the types of the members, in Core's order.
func checkPrevOut(v *jsontree.Value) error {
	for _, want := range []struct {
		key  string
		kind jsontree.Kind
	}{
		{"scriptPubKey", jsontree.String}, {"txid", jsontree.String}, {"vout", jsontree.Number},
	} {
		switch got := v.Get(want.key).Kind(); got {
		case want.kind:
		case jsontree.Null:
			return command.Errorf(command.TypeError, "Missing %s", want.key)
		default:
			return command.Errorf(command.TypeError,
				"JSON value of type %v for field %s is not of expected type %v", got, want.key, want.kind)
		}
	}
	return nil
}
