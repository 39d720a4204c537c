package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// Written returns a function that waits until the loaded wallets have written what they
// know of the memory pool; nil without wallets. A wallet that cannot write has logged
// the error.
func Written(wallets *ask.Ref, loaded *ask.Directory) func(context.Context) {
	if wallets.IsAbsent() {
		return nil
	}
	return func(ctx context.Context) {
		if len(loaded.Names()) > 0 {
			_, _ = ask.Ask(ctx, wallets, messages.SyncWallets{})
		}
	}
}
