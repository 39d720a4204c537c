package walletrpc

import (
	"context"
	"encoding/base64"

	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) signMessage() command.Command {
	return command.Command{
		Name:     "signmessage",
		Category: command.Wallet,
		About:    command.Funds,
		Summary:  "Signs a message with the private key of an address. The wallet must be unlocked.",
		Params: []command.Param{
			{Name: "address", Type: command.String, Help: "the address: one of the hash of a public key"},
			{Name: "message", Type: command.String, Help: "the message"},
		},
		Results:  []command.Result{{Type: command.String, Help: "the signature in base64"}},
		Examples: []string{`["1D1ZrZNe3JUo7ZycKEYQQiQAWd9y54F4XX", "my message"]`},
		Run:      m.on(m.runSignMessage),
	}
}

func (m *methods) runSignMessage(ctx context.Context, w chosen, a *command.Args) (any, error) {
	if m.net.Restricted {
		return nil, command.Errorf(command.MethodDeprecated, "Legacy message signing is disabled on this chain")
	}
	s, err := w.state(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.needUnlocked(); err != nil {
		return nil, err
	}
	if err := s.needCheckedKeys(toSign); err != nil {
		return nil, err
	}
	address, err := a.String(0)
	if err != nil {
		return nil, err
	}
	message, err := a.String(1)
	if err != nil {
		return nil, err
	}
	script, err := descriptor.ScriptOfAddress(address, m.net)
	if err != nil {
		return nil, command.Error{Code: command.InvalidAddressOrKey, Message: "Invalid address"}
	}
	if !txscript.IsPayToPubKeyHash(script) {
		return nil, command.Error{Code: command.TypeError, Message: "Address does not refer to key"}
	}
	signature, err := ask.Ask(ctx, w.ref, messages.SignMessage{Script: script, Message: message})
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.EncodeToString(signature), nil
}
