package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// errNoHDKeys is the answer where all outputs are P2MR.
var errNoHDKeys = command.Error{
	Code: command.WalletError,
	Message: "gethdkeys is unavailable for P2MR-only wallets because BIP32 extended public keys cannot derive " +
		"SPHINCS+/P2MR public keys. Use exportpubkeydb/importpubkeydb for watch-only P2MR tracking.",
}

// hdKey is one extended key of a wallet.
type hdKey struct {
	XPub        string         `json:"xpub"`
	HasPrivate  bool           `json:"has_private"`
	XPrv        command.Secret `json:"xprv,omitempty"`
	Descriptors []hdKeyUse     `json:"descriptors"`
}

// hdKeys is what gethdkeys returns.
type hdKeys []hdKey

// Secrets implements [command.Teller].
func (k hdKeys) Secrets() []command.Secret {
	secrets := make([]command.Secret, len(k))
	for i := range k {
		secrets[i] = k[i].XPrv
	}
	return secrets
}

// hdKeyUse is a descriptor that holds the key.
type hdKeyUse struct {
	Desc   string `json:"desc"`
	Active bool   `json:"active"`
}

func (m *methods) getHDKeys() command.Command {
	return command.Command{
		Name:     "gethdkeys",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads,
		Summary: "Returns the extended keys (BIP32) in the wallet, and which descriptors hold them.",
		Params: []command.Param{{
			Name: "options", Type: command.NamedOptions, Optional: true, Help: "what is shown",
			Inner: []command.Param{
				{
					Name: "active_only", Type: command.Bool, Default: "false",
					Help: "whether only active descriptors are looked at",
				},
				{Name: "private", Type: command.Bool, Default: "false", Help: "whether private keys are shown"},
			},
		}},
		Results: []command.Result{{Type: command.Array, Inner: []command.Result{
			{Type: command.Object, Inner: []command.Result{
				{Type: command.String, Key: "xpub", Help: "the extended public key"},
				{Type: command.Bool, Key: "has_private", Help: "whether the wallet has the private key"},
				{
					Type: command.String, Key: "xprv", Optional: true,
					Help: "the extended private key, if it was asked for and the wallet has it", Secret: true,
				},
				{
					Type: command.Array, Key: "descriptors", Help: "the descriptors with this key",
					Inner: []command.Result{
						{Type: command.Object, Inner: []command.Result{
							{Type: command.String, Key: "desc", Help: "the descriptor, without private keys"},
							{Type: command.Bool, Key: "active", Help: "whether new addresses are taken from it"},
						}},
					},
				},
			}},
		}}},
		Examples: []string{`[]`, `{"active_only": true, "private": true}`},
		Run:      m.on(m.hdKeys),
	}
}

func (m *methods) hdKeys(ctx context.Context, w chosen, a *command.Args) (any, error) {
	if m.net.Restricted {
		return nil, errNoHDKeys
	}
	var q messages.GetHDKeys
	var err error
	options := a.Value(0)
	if q.ActiveOnly, err = optionalBool(options, "active_only"); err != nil {
		return nil, err
	}
	if q.Private, err = optionalBool(options, "private"); err != nil {
		return nil, err
	}
	got, err := ask.Ask(ctx, w.ref, q)
	if err != nil {
		return nil, err
	}
	keys := make(hdKeys, len(got))
	for i, key := range got {
		keys[i] = hdKey{key.XPub, key.HasPrivate, command.Secret(key.XPrv), make([]hdKeyUse, len(key.Descriptors))}
		for j, use := range key.Descriptors {
			keys[i].Descriptors[j] = hdKeyUse(use)
		}
	}
	return keys, nil
}
