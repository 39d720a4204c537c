package rawtxrpc

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
	return append(arg.PrevOutParams(),
		command.Param{Name: "leafScript", Type: command.Hex, Optional: true, Help: "(for a taproot script path; not " +
			"in Core) the script to spend it by"},
		command.Param{Name: "controlBlock", Type: command.Hex, Optional: true, Help: "(for a taproot script path; " +
			"not in Core) the proof for leafScript"},
		command.Param{Name: "p2mrScript", Type: command.Hex, Optional: true, Help: "(for P2MR, on networks that have " +
			"it) the script to spend it by"},
		command.Param{Name: "p2mrControlBlock", Type: command.Hex, Optional: true, Help: "(with p2mrScript) the " +
			"proof for it"},
		command.Param{
			Name: "p2mrLeafVersion", Type: command.Number, Optional: true, Help: "(with p2mrScript) its version",
		},
	)
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
	payable, err := arg.Payable(m.net, m.Network.Rules.MayPayTo, m.Chain.Height)
	if err != nil {
		return err
	}
	for _, v := range list.Elements() {
		at, script, err := arg.PrevOut(v, payable)
		if err != nil {
			return err
		}
		coin := &wire.TxOut{Value: m.Network.Rules.MaxMoney, PkScript: script}
		if known := s.Coins[at]; known != nil && !bytes.Equal(known.PkScript, coin.PkScript) {
			return command.Errorf(command.DeserializationError, "Previous output scriptPubKey mismatch:\n%s\nvs:\n%s",
				txjson.Asm(known.PkScript), txjson.Asm(coin.PkScript))
		}
		// Core reads the amount after it has compared the scripts.
		if amount := v.Get("amount"); amount != nil {
			value, err := amount.AsAmount(jsontree.Amount(m.Network.Rules.MaxMoney))
			if err != nil {
				return err
			}
			coin.Value = int64(value)
		}
		s.Coins[at] = coin
		if err := readScripts(v, coin.PkScript, s); err != nil {
			return err
		}
		if !s.HasP2MR() {
			continue
		}
		if err := readP2MRLeaf(v, coin.PkScript, s); err != nil {
			return err
		}
	}
	return nil
}

// checkScripts checks the types of the scripts that may be given.
func checkScripts(v *jsontree.Value) error {
	for _, key := range []string{"redeemScript", "witnessScript"} {
		if got := v.Get(key).Kind(); got != jsontree.String && got != jsontree.Null {
			return command.Errorf(command.TypeError,
				"JSON value of type %v for field %s is not of expected type %v", got, key, jsontree.String)
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
	if err := checkScripts(v); err != nil {
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

// readInnerScript reads the innermost script. Older clients give a witness
// script as redeemScript.
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
		return command.Error{
			Code: command.InvalidParameter, Message: "redeemScript does not correspond to witnessScript",
		}
	}
	return nil
}

// readLeaf reads the tapscript that a taproot output is to be spent by. Core
// does not know this member and ignores it there.
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
