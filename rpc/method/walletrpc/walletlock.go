package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) walletLock() command.Command {
	return command.Command{
		Name:     "walletlock",
		Category: command.Wallet,
		About:    command.Funds,
		Summary:  "Locks an encrypted wallet again, before its time is up.",
		Results:  noResult,
		Examples: []string{`[]`},
		Run: m.on(func(ctx context.Context, w chosen, _ *command.Args) (any, error) {
			s, err := w.state(ctx)
			if err != nil {
				return nil, err
			}
			if err := s.needEncrypted("walletlock"); err != nil {
				return nil, err
			}
			if err := s.needNoRescan("locking the wallet"); err != nil {
				return nil, err
			}
			_, err = ask.Ask(ctx, w.ref, messages.LockWallet{})
			return nil, err
		}),
	}
}
