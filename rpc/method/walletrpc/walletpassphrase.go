package walletrpc

import (
	"context"
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// maxUnlock is for how many seconds a wallet can be unlocked at most.
const maxUnlock = 100_000_000

var errNegativeTimeout = command.Error{Code: command.InvalidParameter, Message: "Timeout cannot be negative."}

const passphraseNULText = "Error: The wallet passphrase entered is incorrect. It contains a null character (ie - a " +
	"zero byte). " +
	"If the passphrase was set with a version of this software prior to 25.0, " +
	"please try again with only the characters up to — but not including — the first null character. " +
	"If this is successful, please set a new passphrase to avoid this issue in the future."

func (m *methods) walletPassphrase() command.Command {
	return command.Command{
		Name:     "walletpassphrase",
		Category: command.Wallet,
		About:    command.Funds,
		Summary: "Unlocks an encrypted wallet for a time, so that its private keys can be used.\n" +
			"For a wallet that is unlocked already the time begins anew.",
		Params: []command.Param{
			{Name: "passphrase", Type: command.String, Help: "the passphrase", Secret: true},
			{
				Name: "timeout", Type: command.Number,
				Help: "seconds until the wallet is locked again, at most 100000000",
			},
		},
		Results:  noResult,
		Examples: []string{`["my pass phrase", 60]`},
		Run:      m.on(unlock),
	}
}

func unlock(ctx context.Context, w chosen, a *command.Args) (any, error) {
	s, err := w.state(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.needEncrypted("walletpassphrase"); err != nil {
		return nil, err
	}
	seconds, err := a.Int64(1)
	if err != nil {
		return nil, err
	}
	if seconds < 0 {
		return nil, errNegativeTimeout
	}
	passphrase, err := readSecret(a.Value(0))
	if err != nil {
		return nil, err
	}
	if len(passphrase) == 0 {
		return nil, errEmptyPassphrase
	}
	_, err = ask.Ask(ctx, w.ref, messages.UnlockWallet{
		Passphrase: passphrase, For: time.Duration(min(seconds, maxUnlock)) * time.Second,
	})
	if err != nil && hasNUL(a.Value(0)) {
		err = explainNUL(err, passphraseNULText)
	}
	return nil, err
}
