package rawtxrpc

import (
	"context"
	"strings"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// scriptResult is a script with the outputs that could pay to it by its hash.
type scriptResult struct {
	txjson.ScriptPubKey
	P2SH   string        `json:"p2sh,omitempty"`
	Segwit *segwitResult `json:"segwit,omitempty"`
}

type segwitResult struct {
	txjson.ScriptPubKey
	P2SH string `json:"p2sh-segwit"`
}

func (m *methods) decodeScript() command.Command {
	return command.Command{
		Name:     "decodescript",
		Category: command.RawTransactions,
		About:    command.Pure, Effect: command.Reads,
		Summary: "Shows a script as an object, with the addresses that would pay to its hash.",
		Params:  []command.Param{{Name: "hexstring", Type: command.Hex, Help: "the script, which may be empty"}},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "asm", Help: "the script as words"},
			{Type: command.String, Key: "desc", Help: "descriptor"},
			{Type: command.String, Key: "address", Optional: true, Help: "address, if it has one"},
			{Type: command.String, Key: "type", Help: "form, such as pubkeyhash"},
			{
				Type: command.String, Key: "p2sh", Optional: true,
				Help: "address that pays to its hash, unless nobody should use that",
			},
			{
				Type: command.Object, Key: "segwit", Optional: true,
				Help: "output that pays to its hash and takes a witness, unless nobody should use that",
				Inner: append(scriptResults(),
					command.Result{
						Type: command.String, Key: "p2sh-segwit", Help: "address that pays to the hash of that output",
					}),
			},
		}}},
		Examples: []string{`["hexstring"]`},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			text, err := a.String(0)
			if err != nil {
				return nil, err
			}
			var script []byte
			if text != "" {
				if script, err = arg.HexText(text, "argument"); err != nil {
					return nil, err
				}
			}
			return m.describeScript(script), nil
		},
	}
}

func (m *methods) describeScript(script []byte) scriptResult {
	shown := scriptResult{ScriptPubKey: m.printer.ScriptPubKey(script)}
	shown.Hex = nil
	if m.net.Restricted || !wrappable(script, shown.Type) {
		return shown
	}
	shown.P2SH = m.address(rawtx.ScriptHash(script))
	if segwit, ok := wrapSegwit(script, shown.Type); ok {
		wrapped := &segwitResult{m.printer.ScriptPubKey(segwit), m.address(rawtx.ScriptHash(segwit))}
		if shown.Type == "multisig" || shown.Type == "nonstandard" { // the others are keys, whose hash tells nothing
			wrapped.Desc = descriptor.InferWitness(script, m.net)
		}
		shown.Segwit = wrapped
	}
	return shown
}

// wrappable reports whether an output that pays to the script's hash can be
// spent. Scripts that mean something else in newer kinds of outputs do not
// count.
func wrappable(script []byte, form string) bool {
	switch form {
	case "multisig", "nonstandard", "pubkey", "pubkeyhash", "witness_v0_keyhash", "witness_v0_scripthash":
		unspendable := len(script) > txscript.MaxScriptSize || len(script) > 0 && script[0] == txscript.OP_RETURN
		return !unspendable && rawtx.HasValidOps(script) && !txscript.ScriptHasOpSuccess(script)
	default:
		return false
	}
}

// wrapSegwit returns the output script that pays to a script by its hash, or to
// its key's hash, and takes a witness. Keys must be compressed there.
func wrapSegwit(script []byte, form string) ([]byte, bool) {
	switch form {
	case "pubkey":
		key := script[1 : len(script)-1]
		return rawtx.WitnessKeyHash(btcutil.Hash160(key)), compressed(key)
	case "pubkeyhash":
		return rawtx.WitnessKeyHash(script[3:23]), true
	case "multisig":
		_, keys := rawtx.MultisigKeys(script)
		return rawtx.WitnessScriptHash(script), compressed(keys...)
	case "nonstandard":
		return rawtx.WitnessScriptHash(script), true
	default:
		return nil, false
	}
}

func compressed(keys ...[]byte) bool {
	const size = 33
	for _, key := range keys {
		if len(key) != size {
			return false
		}
	}
	return true
}

// wrapDescriptor puts a descriptor, which has a checksum, into others.
func wrapDescriptor(desc, before, after string) string {
	body, _, _ := strings.Cut(desc, "#")
	return descriptor.AddChecksum(before + body + after)
}

// address returns the address of an output script that has one.
func (m *methods) address(script []byte) string {
	address, _ := descriptor.AddressOf(script, m.net)
	return address
}
