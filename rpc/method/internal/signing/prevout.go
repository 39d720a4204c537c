package signing

import (
	"encoding/hex"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
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

// PrevOut reads which output a client brings, and its script, to which outputs of
// the network can pay.
func PrevOut(v *jsontree.Value, net *descriptor.Network) (at wire.OutPoint, script []byte, err error) {
	if v.Kind() != jsontree.Object {
		return at, nil, command.Error{
			Code: command.DeserializationError, Message: `expected object with {"txid'","vout","scriptPubKey"}`,
		}
	}
	if err := checkPrevOut(v); err != nil {
		return at, nil, err
	}
	if at.Hash, err = arg.Hash(v.Get("txid"), "txid"); err != nil {
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
	if net.Restricted && !net.Allows(script) {
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
