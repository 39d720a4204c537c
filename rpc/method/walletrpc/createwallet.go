package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

var errLegacyWallet = command.Error{
	Code:    command.WalletError,
	Message: `descriptors argument must be set to "true"; it is no longer possible to create a legacy wallet.`,
}

const warnNotEncrypted = "Empty string given as passphrase, wallet will not be encrypted."

// Positions of createwallet's arguments.
const (
	createName = iota
	createNoKeys
	createBlank
	createPassphrase
	createAvoidReuse
	createDescriptors
	createOnStartup
	createSigner
)

func (m *methods) createWallet() command.Command {
	return command.Command{
		Name:     "createwallet",
		Category: command.Wallet,
		About:    command.Registry,
		Summary:  "Makes a new wallet and loads it.",
		Params: []command.Param{
			{
				Name: "wallet_name", Type: command.String, Kind: command.WalletName,
				Help: "name of the wallet, or the path where it is to be",
			},
			{
				Name: "disable_private_keys", Type: command.Bool, Default: "false",
				Help: "whether the wallet is never to hold private keys, only to watch",
			},
			{Name: "blank", Type: command.Bool, Default: "false", Help: "whether the wallet begins without keys"},
			{
				Name: "passphrase", Type: command.String, Optional: true, Help: "what to encrypt the private keys with",
				Secret: true,
			},
			{
				Name: "avoid_reuse", Type: command.Bool, Default: "false",
				Help: "whether coins on addresses that were spent from are told from others",
			},
			{
				Name: "descriptors", Type: command.Bool, Default: "true",
				Help: "must be true: there are no other wallets",
			},
			onStartupParam,
			{
				Name: "external_signer", Type: command.Bool, Default: "false",
				Help: "whether the keys are on a signing device (-signer); disable_private_keys must be true",
			},
		},
		Results:  loadedResults,
		Examples: []string{`["testwallet"]`, `{"wallet_name": "savings", "avoid_reuse": true, "load_on_startup": true}`},
		Run:      m.create,
	}
}

func (m *methods) create(ctx context.Context, a *command.Args) (any, error) {
	q, err := readCreate(a)
	if err != nil {
		return nil, err
	}
	var warnings []string
	if a.Has(createPassphrase) && len(q.Passphrase) == 0 {
		warnings = append(warnings, warnNotEncrypted)
	}
	made, err := ask.Ask(ctx, m.Wallets, q)
	if err != nil {
		return nil, told(err)
	}
	return loaded{made.Name, append(warnings, made.Warnings...)}, nil
}

func readCreate(a *command.Args) (q messages.CreateWallet, err error) {
	descriptors := true
	for _, option := range []struct {
		at int
		to *bool
	}{
		{createNoKeys, &q.DisablePrivateKeys},
		{createBlank, &q.Blank},
		{createAvoidReuse, &q.AvoidReuse},
		{createDescriptors, &descriptors},
		{createSigner, &q.ExternalSigner},
	} {
		if *option.to, err = a.BoolOr(option.at, *option.to); err != nil {
			return q, err
		}
	}
	if !descriptors {
		return q, errLegacyWallet
	}
	if q.OnStartup, err = onStartup(a, createOnStartup); err != nil {
		return q, err
	}
	if q.Name, err = a.String(createName); err != nil {
		return q, err
	}
	if a.Has(createPassphrase) { // last, so that it is never made in vain
		q.Passphrase, err = readSecret(a.Value(createPassphrase))
	}
	return q, err
}
