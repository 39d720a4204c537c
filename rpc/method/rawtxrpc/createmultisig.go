package rawtxrpc

import (
	"context"
	"encoding/hex"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/rpc/command"
)

// maxMultisigKeys is the consensus limit of CHECKMULTISIG.
const maxMultisigKeys = txscript.MaxPubKeysPerMultiSig

type multisigResult struct {
	Address      string   `json:"address"`
	RedeemScript string   `json:"redeemScript"`
	Descriptor   string   `json:"descriptor"`
	Warnings     []string `json:"warnings,omitempty"`
}

func (m *methods) createMultisig() command.Command {
	return command.Command{
		Name:     "createmultisig",
		Category: command.Util,
		About:    command.Pure, Effect: command.Reads,
		Summary: "Makes the address of outputs that some of several keys can spend together.",
		Params: []command.Param{
			{Name: "nrequired", Type: command.Number, Help: "how many keys must sign"},
			{Name: "keys", Type: command.Array, Help: "public keys", Inner: []command.Param{
				{Name: "key", Type: command.Hex, Optional: true, Help: "a public key"},
			}},
			{Name: "address_type", Type: command.String, Default: `"legacy"`, Help: `kind of address: "legacy", "p2sh-segwit" or "bech32"`},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "address", Help: "the address"},
			{Type: command.Hex, Key: "redeemScript", Help: "the script it pays to"},
			{Type: command.String, Key: "descriptor", Help: "the descriptor of both"},
			{
				Type: command.Array, Key: "warnings", Optional: true, Help: "what may not be as wanted",
				Inner: []command.Result{
					{Type: command.String, Help: "a warning"},
				},
			},
		}}},
		Examples: []string{
			`[2, ["03789ed0bb717d88f7d321a368d905e7430207ebbd82bd342cf11ae157a7ace5fd",` +
				`"03dbc6764b8884a92e871274b87583e6d5c2a58819473e17e107ef3f6aa5a61626"]]`,
		},
		Run: func(_ context.Context, a *command.Args) (any, error) { return m.multisig(a) },
	}
}

func (m *methods) multisig(a *command.Args) (any, error) {
	required, err := a.Int32(0)
	if err != nil {
		return nil, err
	}
	list, err := a.Array(1)
	if err != nil {
		return nil, err
	}
	var keys [][]byte
	for _, v := range list.Elements() {
		key, err := readPubKey(v)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	wanted, err := a.StringOr(2, legacy)
	if err != nil {
		return nil, err
	}
	if err := m.checkAddressType(wanted); err != nil {
		return nil, err
	}
	if m.net.Restricted {
		return nil, errNoMultisig
	}
	if err := checkMultisig(int(required), len(keys)); err != nil {
		return nil, err
	}
	script := multisigScript(int(required), keys)
	made := wanted
	if !compressed(keys...) {
		made = legacy // witnesses know compressed keys only
	}
	if made == legacy && len(script) > txscript.MaxScriptElementSize {
		return nil, command.Errorf(command.InvalidParameter, "redeemScript exceeds size limit: %d > %d",
			len(script), txscript.MaxScriptElementSize)
	}
	return m.multisigResult(script, made, made == wanted), nil
}

// readPubKey reads a public key, which must be a point of the curve.
func readPubKey(v *jsontree.Value) ([]byte, error) {
	text, err := v.AsString()
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(text)
	fault := ""
	switch {
	case err != nil || text == "":
		fault = "must be a hex string"
	case len(key) != btcec.PubKeyBytesLenCompressed && len(key) != pubKeyBytesLenUncompressed:
		fault = "must have a length of either 33 or 65 bytes"
	default:
		if _, err = btcec.ParsePubKey(key); err != nil {
			fault = "must be cryptographically valid."
		}
	}
	if fault != "" {
		return nil, command.Errorf(command.InvalidAddressOrKey, `Pubkey "%s" %s`, text, fault)
	}
	return key, nil
}

const pubKeyBytesLenUncompressed = 65

// Kinds of addresses.
const (
	legacy     = "legacy"
	p2shSegwit = "p2sh-segwit"
	bech32     = "bech32"
	bech32m    = "bech32m"
	p2mrType   = "p2mr"
)

var (
	errMultisigBech32m = command.Error{
		Code: command.InvalidAddressOrKey, Message: "createmultisig cannot create bech32m multisig addresses",
	}
	errMultisigP2MR = command.Error{
		Code: command.InvalidAddressOrKey, Message: "createmultisig cannot create bech32m or p2mr multisig addresses",
	}
	errNoMultisig = command.Error{
		Code: command.InvalidAddressOrKey, Message: "Legacy multisig address creation is disabled on this chain",
	}
)

func (m *methods) checkAddressType(kind string) error {
	types := m.Network.Wallet()
	switch {
	case kind == legacy, kind == p2shSegwit, kind == bech32:
		return nil
	case types.Has(descriptor.MerkleRoot) && (kind == bech32m || kind == p2mrType):
		return errMultisigP2MR
	case kind == bech32m:
		return errMultisigBech32m
	default:
		return command.Errorf(command.InvalidAddressOrKey, "Unknown address type '%s'", kind)
	}
}

func checkMultisig(required, keys int) error {
	invalid := func(format string, args ...any) error {
		return command.Errorf(command.InvalidParameter, format, args...)
	}
	switch {
	case required < 1:
		return invalid("a multisignature address must require at least one key to redeem")
	case keys < required:
		return invalid("not enough keys supplied (got %d keys, but need at least %d to redeem)", keys, required)
	case keys > maxMultisigKeys:
		return invalid(
			"Number of keys involved in the multisignature address creation > %d\nReduce the number", maxMultisigKeys,
		)
	default:
		return nil
	}
}

// multisigScript returns the script that takes signatures by so many of the
// keys.
func multisigScript(required int, keys [][]byte) []byte {
	script := appendCount(nil, required)
	for _, key := range keys {
		script = append(append(script, byte(len(key))), key...)
	}
	return append(appendCount(script, len(keys)), txscript.OP_CHECKMULTISIG)
}

// appendCount pushes a number of keys.
func appendCount(script []byte, n int) []byte {
	if n <= 16 {
		return append(script, byte(txscript.OP_1+n-1))
	}
	return append(script, txscript.OP_DATA_1, byte(n))
}

// multisigResult wraps the script in outputs of a kind.
func (m *methods) multisigResult(script []byte, kind string, asWanted bool) multisigResult {
	output, before, after := rawtx.ScriptHash(script), "sh(", ")"
	switch kind {
	case bech32:
		output, before = rawtx.WitnessScriptHash(script), "wsh("
	case p2shSegwit:
		output, before, after = rawtx.ScriptHash(rawtx.WitnessScriptHash(script)), "sh(wsh(", "))"
	}
	result := multisigResult{
		Address:      m.address(output),
		RedeemScript: hex.EncodeToString(script),
		Descriptor:   wrapDescriptor(descriptor.Infer(script, m.net), before, after),
	}
	if hybrid(script) { // no descriptor but that of the address has such keys
		result.Descriptor = descriptor.Infer(output, m.net)
	}
	if !asWanted {
		result.Warnings = []string{
			"Unable to make chosen address type, please ensure no uncompressed public keys are present.",
		}
	}
	return result
}

// hybrid reports whether a multisig script has keys in the hybrid form, which
// has both coordinates and tells the sign of one.
func hybrid(script []byte) bool {
	_, keys := rawtx.MultisigKeys(script)
	for _, key := range keys {
		if len(key) == pubKeyBytesLenUncompressed && key[0] != 4 {
			return true
		}
	}
	return false
}
