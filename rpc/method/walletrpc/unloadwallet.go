package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

var (
	errTwoNames = command.Error{
		Code:    command.InvalidParameter,
		Message: "The RPC endpoint wallet and the wallet name parameter specify different wallets",
	}
	errNoName = command.Error{
		Code:    command.InvalidParameter,
		Message: "Either the RPC endpoint wallet or the wallet name parameter must be provided",
	}
)

func (m *methods) unloadWallet() command.Command {
	return command.Command{
		Name:     "unloadwallet",
		Category: command.Wallet,
		About:    command.Registry,
		Summary:  "Unloads the wallet that the path or the argument names; both must name the same.",
		Params: []command.Param{
			{
				Name: "wallet_name", Type: command.String, Default: "the wallet name from the RPC endpoint",
				Help: "name of the wallet",
			},
			onStartupParam,
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{
				Type: command.Array, Key: "warnings", Optional: true, Help: "what a person should know",
				Inner: []command.Result{{Type: command.String, Help: "a warning"}},
			},
		}}},
		Examples: []string{`["wallet_name"]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			name, err := onlyName(a)
			if err != nil {
				return nil, err
			}
			startup, err := onStartup(a, 1)
			if err != nil {
				return nil, err
			}
			if m.Directory.Lookup(name) == nil {
				return nil, errNotLoaded
			}
			got, err := ask.Ask(ctx, m.Wallets, messages.UnloadWallet{Name: name, OnStartup: startup})
			if err != nil {
				return nil, told(err)
			}
			return struct {
				Warnings []string `json:"warnings,omitempty"`
			}(got), nil
		},
	}
}

// onlyName returns the wallet's name, which the path or the argument gives.
func onlyName(a *command.Args) (string, error) {
	if !a.Has(0) {
		if a.WalletPath == nil {
			return "", errNoName
		}
		return *a.WalletPath, nil
	}
	name, err := a.String(0)
	if err == nil && a.WalletPath != nil && *a.WalletPath != name {
		err = errTwoNames
	}
	return name, err
}
