package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) addHDKey() command.Command {
	return command.Command{
		Name:     "addhdkey",
		Category: command.Wallet,
		About:    command.Funds, Since: 32,
		Summary: "Adds an extended key (BIP32) to the wallet, which makes no addresses of it.\n" +
			"createwalletdescriptor and derivehdkey can use it. The wallet must be unlocked.",
		Params: []command.Param{{
			Name: "hdkey", Type: command.String, Default: "a random key", Secret: true,
			Help: "the extended private key",
		}},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "xpub", Help: "the extended public key"},
		}}},
		Examples: []string{`[]`, `["xprv"]`},
		Run:      m.on(addHDKey),
	}
}

func addHDKey(ctx context.Context, w chosen, a *command.Args) (any, error) {
	var q messages.AddHDKey
	if a.Has(0) {
		key, err := a.String(0)
		if err != nil {
			return nil, err
		}
		q.Key = &key
	}
	xpub, err := ask.Ask(ctx, w.ref, q)
	return struct {
		XPub string `json:"xpub"`
	}{xpub}, err
}
