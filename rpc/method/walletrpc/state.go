package walletrpc

import (
	"context"
	"errors"
	"strings"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

var (
	errLocked = command.Error{
		Code:    command.WalletUnlockNeeded,
		Message: "Error: Please enter the wallet passphrase with walletpassphrase first.",
	}
	errRescanning = command.Error{
		Code: command.WalletError, Message: "Wallet is currently rescanning. Abort existing rescan or wait.",
	}
	errEmptyPassphrase = command.Error{Code: command.InvalidParameter, Message: "passphrase cannot be empty"}
)

// state is what a wallet is doing. Methods ask for it where the wallet's state
// decides before the arguments do; the wallet itself looks again.
type state messages.WalletInfo

func (w chosen) state(ctx context.Context) (state, error) {
	info, err := ask.Ask(ctx, w.ref, messages.GetWalletInfo{})
	return state(info), err
}

// needIdle fails during a rescan, and while the wallet is locked.
func (s *state) needIdle() error {
	if s.Scanning {
		return errRescanning
	}
	return s.needUnlocked()
}

func (s *state) needUnlocked() error {
	if s.Encrypted && s.UnlockedUntil.IsZero() {
		return errLocked
	}
	return nil
}

// The purposes of a client, as texts name them.
const (
	toSign       = "signing"
	toSignOrSend = "signing or sending"
)

// needCheckedKeys fails while private keys of P2MR are unchecked, or some are not what they should be. before is what
// the client wants to do.
func (s *state) needCheckedKeys(before string) error {
	const about = "Error: plaintext PQC wallet key validation "
	switch {
	case s.PQC.Pending > 0:
		return command.Errorf(command.WalletError, "%sis still in progress. "+
			"Check getwalletinfo.pqc_key_validation before %s.", about, before)
	case s.PQC.Failed > 0:
		return command.Errorf(command.WalletError, "%sfailed. "+
			"Wallet signing is disabled until the wallet is restored or repaired.", about)
	}
	return nil
}

// checkKeys fails where the network pays to P2MR and the wallet's keys are not fit to sign: the reference says so
// before it looks at what is to be paid.
func (m *methods) checkKeys(ctx context.Context, w chosen) error {
	if !m.Network.Wallet().SlowKeys {
		return nil
	}
	s, err := w.state(ctx)
	if err != nil {
		return err
	}
	return s.needCheckedKeys(toSignOrSend)
}

// needEncrypted fails for a wallet whose keys are not encrypted.
func (s *state) needEncrypted(method string) error {
	if s.Encrypted {
		return nil
	}
	return command.Errorf(command.WalletWrongEncState,
		"Error: running with an unencrypted wallet, but %s was called.", method)
}

// needNoRescan fails while a rescan uses the keys. before is what the client
// wants to do.
func (s *state) needNoRescan(before string) error {
	if !s.Scanning {
		return nil
	}
	return command.Errorf(command.WalletError,
		"Error: the wallet is currently being used to rescan the blockchain for "+
			"related transactions. Please call `abortrescan` before %s.", before)
}

// readSecret takes a passphrase out of an argument. The receiver of the secret has to wipe it afterwards.
func readSecret(v *jsontree.Value) (messages.Secret, error) {
	text, err := v.AsString()
	return messages.Secret(text), err
}

// hasNUL reports whether a passphrase has a zero byte, up to which versions of
// Core before 25.0 read it.
func hasNUL(v *jsontree.Value) bool { return strings.IndexByte(v.Text(), 0) >= 0 }

// explainNUL replaces the error of a wrong passphrase that has a zero byte.
func explainNUL(err error, text string) error {
	if e, ok := errors.AsType[command.Error](told(err)); ok && e.Code == command.WalletPassphraseIncorrect {
		return command.Error{Code: e.Code, Message: text}
	}
	return err
}
