package forward

import (
	"context"
	"slices"
	"time"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// namePatience is how long a wallet that comes here waits for what Core says of its own.
const namePatience = 5 * time.Second

// checkName refuses a wallet that Core has, too: nobody could say which one a call is
// about. Core is asked under the node's own login. Where it cannot be asked the wallet may
// come: it may have to just while Core is away.
func (f *Forwarder) checkName(ctx context.Context, c *command.Command, params *jsontree.Value) error {
	place := slices.IndexFunc(c.Params, func(p command.Param) bool { return p.Kind == command.WalletName })
	if place < 0 || f.OwnWallet == nil {
		return nil
	}
	name, err := argument(params, place, c.Params[place].Name).AsString()
	if err != nil {
		return nil // the method says so itself
	}
	ctx, cancel := context.WithTimeout(ctx, namePatience)
	defer cancel()
	taken, err := f.hasWallet(ctx, name)
	switch {
	case err != nil:
		if f.NameUnknown != nil {
			f.NameUnknown(name, err)
		}
	case taken:
		return command.Errorf(command.WalletError,
			"Bitcoin Core has a wallet \"%s\", too, and calls about it go there. Choose another name here "+
				"(restorewallet gives a backup another one), or run with -disablewallet to leave them all to it", name)
	}
	return nil
}

// hasWallet reports whether Core has a wallet of a name, loaded or not.
func (f *Forwarder) hasWallet(ctx context.Context, name string) (bool, error) {
	var loaded []string
	if err := f.Core.Call(ctx, &loaded, "listwallets"); err != nil {
		return false, err
	}
	if slices.Contains(loaded, name) {
		return true, nil
	}
	var stored struct {
		Wallets []struct {
			Name string `json:"name"`
		} `json:"wallets"`
	}
	if err := f.Core.Call(ctx, &stored, "listwalletdir"); err != nil {
		return false, err
	}
	for _, theirs := range stored.Wallets {
		if theirs.Name == name {
			return true, nil
		}
	}
	return false, nil
}
