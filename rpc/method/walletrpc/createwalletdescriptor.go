package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) createWalletDescriptor() command.Command {
	hdKey := "an extended public key of gethdkeys whose private key the wallet has"
	if m.Network.Wallet().SlowKeys { // it may be any
		hdKey = "an extended public key whose private key the wallet has"
	}
	return command.Command{
		Name:     "createwalletdescriptor",
		Category: command.Wallet,
		About:    command.Registry,
		Summary: "Makes the wallet's descriptors for a type of addresses that it has none for yet.\n" +
			"The wallet must be unlocked.",
		Params: []command.Param{
			{Name: "type", Type: command.String, Help: "the type of addresses: " + addressTypes},
			{
				Name: "options", Type: command.NamedOptions, Optional: true, Help: "what is made",
				Inner: []command.Param{
					{
						Name: "internal", Type: command.Bool, Default: "both external and internal are made",
						Help: "whether only the descriptor for change is made (true), or only the other (false)",
					},
					{
						Name: "hdkey", Type: command.String, Default: "the key of all other active descriptors",
						Help: hdKey,
					},
				},
			},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{
				Type: command.Array, Key: "descs", Help: "the new descriptors, without private keys",
				Inner: []command.Result{{Type: command.String, Help: "a descriptor"}},
			},
			notExportedResult,
		}}},
		Examples: []string{`["bech32m"]`},
		Run:      m.on(m.addDescriptors),
	}
}

func (m *methods) addDescriptors(ctx context.Context, w chosen, a *command.Args) (any, error) {
	var q messages.CreateWalletDescriptor
	var err error
	if q.Type, err = a.String(0); err != nil {
		return nil, err
	}
	if err := m.checkType(q.Type, "address type"); err != nil {
		return nil, err
	}
	options := a.Value(1)
	if v := options.Get("internal"); !v.IsNull() {
		internal, err := v.AsBool()
		if err != nil {
			return nil, err
		}
		q.Internal = &internal
	}
	if v := options.Get("hdkey"); !v.IsNull() {
		s, err := w.state(ctx)
		if err != nil {
			return nil, err
		}
		if err := s.needUnlocked(); err != nil {
			return nil, err
		}
		if q.HDKey, err = v.AsString(); err != nil {
			return nil, err
		}
	}
	descs, err := ask.Ask(ctx, w.ref, q)
	if err != nil {
		return nil, err
	}
	shown := struct {
		Descs    []string `json:"descs"`
		Warnings []string `json:"warnings,omitempty"`
	}{Descs: descs}
	if len(descs) == 0 {
		shown.Descs, shown.Warnings = []string{}, []string{notExported}
	}
	return shown, nil
}

// checkType refuses types of addresses that there are not, or not on this chain. what says
// what the type is for: "address type" or "change type".
func (m *methods) checkType(name, what string) error {
	types := m.Network.Wallet()
	kind, known := types.Named(name)
	switch {
	case known && types.Has(kind):
		return nil
	case known:
		return command.Errorf(command.InvalidAddressOrKey, "%s '%s' is not available on this chain", what, name)
	}
	return command.Errorf(command.InvalidAddressOrKey, "Unknown %s '%s'", what, name)
}
