package utilrpc

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/rpc/command"
)

func verifyMessage(d Deps) command.Command {
	return command.Command{
		Name:     "verifymessage",
		Category: command.Util,
		About:    command.Pure, Effect: command.Reads,
		Summary: "Tells whether a message was signed with the key of an address.",
		Params: []command.Param{
			{Name: "address", Type: command.String, Help: "the address: one of the hash of a public key"},
			{Name: "signature", Type: command.String, Help: "the signature in base64"},
			{Name: "message", Type: command.String, Help: "the message"},
		},
		Results:  []command.Result{{Type: command.Bool, Help: "whether the signature is by the address's key"}},
		Examples: []string{`["1D1ZrZNe3JUo7ZycKEYQQiQAWd9y54F4XX", "signature", "my message"]`},
		Run:      func(_ context.Context, a *command.Args) (any, error) { return verify(d, a) },
	}
}

// messageRefused is how a method about messages ends where no output is of a key that signs them, in qbit's words.
func messageRefused(what string) error {
	return command.Errorf(command.MethodDeprecated, "Legacy message %s is disabled on this chain", what)
}

func verify(d Deps, a *command.Args) (any, error) {
	if d.Net.Restricted {
		return nil, messageRefused("verification")
	}
	var texts [3]string
	for i := range texts {
		var err error
		if texts[i], err = a.String(i); err != nil {
			return nil, err
		}
	}
	script, err := descriptor.ScriptOfAddress(texts[0], d.Net)
	if err != nil {
		return nil, command.Error{Code: command.InvalidAddressOrKey, Message: "Invalid address"}
	}
	if !txscript.IsPayToPubKeyHash(script) {
		return nil, command.Error{Code: command.TypeError, Message: "Address does not refer to key"}
	}
	signature, err := base64.StdEncoding.Strict().DecodeString(texts[1])
	if err != nil || strings.ContainsAny(texts[1], "\r\n") { // which Go skips
		return nil, command.Error{Code: command.TypeError, Message: "Malformed base64 encoding"}
	}
	return rawtx.VerifyMessage(hashOf(script), signature, texts[2]), nil
}

// hashOf returns the hash of the public key that P2PKH names.
func hashOf(script []byte) [20]byte {
	const at = 3 // after OP_DUP, OP_HASH160 and the length
	return [20]byte(script[at:])
}

func signMessageWithPrivKey(d Deps) command.Command {
	return command.Command{
		Name:     "signmessagewithprivkey",
		Category: command.Util,
		About:    command.Pure,
		Summary:  "Signs a message with a private key.",
		Params: []command.Param{
			{Name: "privkey", Type: command.String, Secret: true, Help: "the private key"},
			{Name: "message", Type: command.String, Help: "the message"},
		},
		Results:  []command.Result{{Type: command.String, Help: "the signature in base64"}},
		Examples: []string{`["privkey", "my message"]`},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			if d.Net.Restricted {
				return nil, messageRefused("signing")
			}
			text, err := a.String(0)
			if err != nil {
				return nil, err
			}
			message, err := a.String(1)
			if err != nil {
				return nil, err
			}
			key, ok := descriptor.ParseWIF(text, d.Net)
			defer clear(key.Scalar[:])
			if !ok {
				return nil, command.Error{Code: command.InvalidAddressOrKey, Message: "Invalid private key"}
			}
			keys := rawtx.Keys{}
			defer keys.Zero()
			if !keys.AddScalar(&key.Scalar, key.Compressed) {
				return nil, command.Error{Code: command.InvalidAddressOrKey, Message: "Invalid private key"}
			}
			signature, ok := keys.SignMessage([20]byte(btcutil.Hash160(key.PublicKey())), message)
			if !ok {
				return nil, command.Error{Code: command.InvalidAddressOrKey, Message: "Sign failed"}
			}
			return base64.StdEncoding.EncodeToString(signature), nil
		},
	}
}
