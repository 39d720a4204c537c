package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

var (
	errKeyPath     = command.Error{Code: command.InvalidParameter, Message: "Invalid BIP32 keypath"}
	errNotHardened = command.Error{
		Code: command.InvalidParameter, Message: "Derivation path requires at least one hardened step",
	}
)

// derivedKey is the result of derivehdkey.
type derivedKey struct {
	Origin string         `json:"origin"`
	XPub   string         `json:"xpub"`
	XPrv   command.Secret `json:"xprv,omitempty"`
}

// Secrets implements [command.Teller].
func (k derivedKey) Secrets() []command.Secret { return []command.Secret{k.XPrv} }

func (m *methods) deriveHDKey() command.Command {
	return command.Command{
		Name:     "derivehdkey",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads, Since: 32,
		Summary: "Derives an extended key (BIP32) from a key of the wallet, for an account of several signers.\n" +
			"The wallet must be unlocked.",
		Params: []command.Param{
			{
				Name: "path", Type: command.String,
				Help: "the path to the key, with at least one hardened step: m/87h/0h/0h",
			},
			{
				Name: "options", Type: command.NamedOptions, Optional: true, Help: "what is derived",
				Inner: []command.Param{
					{
						Name: "hdkey", Type: command.String,
						Default: "the only key of unused(KEY) or, where there is none, of the active descriptors",
						Help:    "the extended public key at which the path begins, one of gethdkeys",
					},
					{Name: "private", Type: command.Bool, Default: "false", Help: "whether the private key is shown"},
				},
			},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "origin", Help: "where the key is from, as it stands before it in descriptors"},
			{Type: command.String, Key: "xpub", Help: "the extended public key"},
			{
				Type: command.String, Key: "xprv", Optional: true, Secret: true,
				Help: "the extended private key, if it was asked for",
			},
		}}},
		Examples: []string{`["m/87h/0h/0h"]`},
		Run:      m.on(deriveHDKey),
	}
}

func deriveHDKey(ctx context.Context, w chosen, a *command.Args) (any, error) {
	text, err := a.String(0)
	if err != nil {
		return nil, err
	}
	var q messages.DeriveHDKey
	var ok bool
	options := a.Value(1)
	if q.Path, ok = descriptor.ParseHDPath(text); !ok {
		return nil, errKeyPath
	}
	if !descriptor.IsHardenedPath(q.Path) {
		return nil, errNotHardened
	}
	if v := options.Get("hdkey"); !v.IsNull() {
		key, err := v.AsString()
		if err != nil {
			return nil, err
		}
		q.HDKey = &key
	}
	if q.Private, err = optionalBool(options, "private"); err != nil {
		return nil, err
	}
	got, err := ask.Ask(ctx, w.ref, q)
	return derivedKey{got.Origin, got.XPub, command.Secret(got.XPrv)}, err
}
