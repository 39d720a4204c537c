package rawtx

import (
	"bytes"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// prevTxParams are the members of an output that a client brings.
func prevTxParams() []command.Param {
	return []command.Param{
		{Name: "txid", Type: command.Hex, Help: "id of the transaction with the output"},
		{Name: "vout", Type: command.Number, Help: "number of the output"},
		{Name: "scriptPubKey", Type: command.Hex, Help: "its script"},
		{Name: "redeemScript", Type: command.Hex, Optional: true, Help: "(required for P2SH) the script it pays to"},
		{Name: "witnessScript", Type: command.Hex, Optional: true, Help: "(required for P2WSH or P2SH-P2WSH) the script it pays to"},
		{Name: "leafScript", Type: command.Hex, Optional: true, Help: "(for a taproot script path; not in Core) the script to spend it by"},
		{Name: "controlBlock", Type: command.Hex, Optional: true, Help: "(for a taproot script path; not in Core) the proof for leafScript"},
		{Name: "amount", Type: command.Amount, Optional: true, Help: "(required for Segwit inputs) its value"},
	}
}

// readPrevTxs adds the outputs that the client brings, and their scripts. The
// checks are Core's, in its order.
func (m *methods) readPrevTxs(list *jsontree.Value, s *rawtx.Signing) error {
	if list.IsNull() {
		return nil
	}
	if _, err := list.AsArray(); err != nil {
		return err
	}
	for _, v := range list.Elements() {
		at, coin, err := m.readPrevOut(v)
		if err != nil {
			return err
		}
		if known := s.Coins[at]; known != nil && !bytes.Equal(known.PkScript, coin.PkScript) {
			return command.Errorf(command.DeserializationError, "Previous output scriptPubKey mismatch:\n%s\nvs:\n%s",
				txjson.Asm(known.PkScript), txjson.Asm(coin.PkScript))
		}
		// Core reads the amount after it has compared the scripts.
		if amount := v.Get("amount"); amount != nil {
			value, err := amount.AsAmount(jsontree.Amount(m.Network.MaxMoney))
			if err != nil {
				return err
			}
			coin.Value = int64(value)
		}
		s.Coins[at] = coin
		if err := readScripts(v, coin.PkScript, s); err != nil {
			return err
		}
	}
	return nil
}

// readPrevOut reads which output is meant, and its script.
func (m *methods) readPrevOut(v *jsontree.Value) (wire.OutPoint, *wire.TxOut, error) {
	var at wire.OutPoint
	if v.Kind() != jsontree.Object {
		return at, nil, command.Error{
			Code: command.DeserializationError, Message: `expected object with {"txid'","vout","scriptPubKey"}`,
		}
	}
	if err := checkMembers(v, false,
		member{"scriptPubKey", jsontree.String}, member{"txid", jsontree.String}, member{"vout", jsontree.Number},
	); err != nil {
		return at, nil, err
	}
	txid, err := arg.Hash(v.Get("txid"), "txid")
	if err != nil {
		return at, nil, err
	}
	index, err := v.Get("vout").AsInt32()
	if err != nil {
		return at, nil, err
	}
	if index < 0 {
		return at, nil, command.Error{Code: command.DeserializationError, Message: "vout cannot be negative"}
	}
	script, err := parseHex(v.Get("scriptPubKey"), "scriptPubKey")
	if err != nil {
		return at, nil, err
	}
	at = wire.OutPoint{Hash: txid, Index: uint32(index)}
	return at, &wire.TxOut{Value: int64(m.Network.MaxMoney), PkScript: script}, nil
}

// member is one that an object should have.
type member struct {
	key  string
	kind jsontree.Kind
}

// checkMembers checks the types of members. optional ones may be absent or
// null.
func checkMembers(v *jsontree.Value, optional bool, members ...member) error {
	for _, want := range members {
		got := v.Get(want.key).Kind()
		switch {
		case got == jsontree.Null && !optional:
			return command.Errorf(command.TypeError, "Missing %s", want.key)
		case got != want.kind && got != jsontree.Null:
			return command.Errorf(command.TypeError,
				"JSON value of type %v for field %s is not of expected type %v", got, want.key, want.kind)
		}
	}
	return nil
}

// readScripts reads the scripts that an output pays to by their hash.
func readScripts(v *jsontree.Value, pkScript []byte, s *rawtx.Signing) error {
	kind := rawtx.HashKindOf(pkScript)
	if kind == rawtx.NoHash {
		return readLeaf(v, pkScript, s.Leaves)
	}
	err := checkMembers(v, true, member{"redeemScript", jsontree.String}, member{"witnessScript", jsontree.String})
	if err != nil {
		return err
	}
	redeemValue, witnessValue := v.Get("redeemScript"), v.Get("witnessScript")
	if redeemValue.IsNull() && witnessValue.IsNull() {
		return command.Error{Code: command.InvalidParameter, Message: "Missing redeemScript/witnessScript"}
	}
	script, err := readInnerScript(redeemValue, witnessValue)
	if err != nil {
		return err
	}
	wrapped := rawtx.WitnessScriptHash(script)
	s.Scripts.Add(script)
	s.Scripts.Add(wrapped)
	if err := checkRedeemScript(redeemValue, witnessValue, wrapped); err != nil {
		return err
	}
	direct, nested := rawtx.ScriptHash(script), rawtx.ScriptHash(wrapped)
	if kind == rawtx.WitnessHash {
		direct, nested = wrapped, wrapped
	}
	if !bytes.Equal(pkScript, direct) && !bytes.Equal(pkScript, nested) {
		return command.Error{
			Code: command.InvalidParameter, Message: "redeemScript/witnessScript does not match scriptPubKey",
		}
	}
	return nil
}

// readInnerScript reads the innermost script. Older clients give one that takes
// its witness as redeemScript.
func readInnerScript(redeem, witness *jsontree.Value) ([]byte, error) {
	if !witness.IsNull() {
		return parseHex(witness, "witnessScript")
	}
	return parseHex(redeem, "redeemScript")
}

// checkRedeemScript checks, where both scripts are given, that they are the same
// or that the one pays to the other.
func checkRedeemScript(redeem, witness *jsontree.Value, wrapped []byte) error {
	if redeem.IsNull() || witness.IsNull() || redeem.Text() == witness.Text() {
		return nil
	}
	script, err := parseHex(redeem, "redeemScript")
	if err != nil {
		return err
	}
	if !bytes.Equal(script, wrapped) {
		return command.Error{Code: command.InvalidParameter, Message: "redeemScript does not correspond to witnessScript"}
	}
	return nil
}

// readLeaf reads the tapscript that a taproot output is to be spent by. Core
// knows no such member and would not look at it.
func readLeaf(v *jsontree.Value, pkScript []byte, leaves rawtx.Leaves) error {
	if v.Get("leafScript").IsNull() {
		return nil
	}
	script, err := parseHex(v.Get("leafScript"), "leafScript")
	if err != nil {
		return err
	}
	control, err := parseHex(v.Get("controlBlock"), "controlBlock")
	if err != nil {
		return err
	}
	if !leaves.Add(pkScript, rawtx.Leaf{Script: script, ControlBlock: control}) {
		return command.Error{
			Code: command.InvalidParameter, Message: "leafScript/controlBlock does not match scriptPubKey",
		}
	}
	return nil
}
