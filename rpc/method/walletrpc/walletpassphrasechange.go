package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

const oldPassphraseNULText = "Error: The old wallet passphrase entered is incorrect. " +
	"It contains a null character (ie - a zero byte). " +
	"If the old passphrase was set with a version of this software prior to 25.0, " +
	"please try again with only the characters up to — but not including — the first null character."

func (m *methods) walletPassphraseChange() command.Command {
	return command.Command{
		Name:     "walletpassphrasechange",
		Category: command.Wallet,
		About:    command.Funds,
		Summary:  "Replaces the passphrase of an encrypted wallet.",
		Params: []command.Param{
			{Name: "oldpassphrase", Type: command.String, Help: "the present passphrase", Secret: true},
			{Name: "newpassphrase", Type: command.String, Help: "the new passphrase", Secret: true},
		},
		Results:  noResult,
		Examples: []string{`["old one", "new one"]`},
		Run:      m.on(changePassphrase),
	}
}

func changePassphrase(ctx context.Context, w chosen, a *command.Args) (any, error) {
	s, err := w.state(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.needEncrypted("walletpassphrasechange"); err != nil {
		return nil, err
	}
	if err := s.needNoRescan("changing the passphrase"); err != nil {
		return nil, err
	}
	var q messages.ChangePassphrase
	if q.Old, err = readSecret(a.Value(0)); err != nil {
		return nil, err
	}
	if q.New, err = readSecret(a.Value(1)); err != nil {
		q.Old.Wipe()
		return nil, err
	}
	if len(q.Old) == 0 || len(q.New) == 0 {
		q.Old.Wipe()
		q.New.Wipe()
		return nil, errEmptyPassphrase
	}
	_, err = ask.Ask(ctx, w.ref, q)
	if err != nil && hasNUL(a.Value(0)) {
		err = explainNUL(err, oldPassphraseNULText)
	}
	return nil, err
}
