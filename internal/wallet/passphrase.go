package wallet

import (
	"bytes"
	"context"
	"errors"

	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// ErrPassphrase says that a passphrase opens no key.
var ErrPassphrase = codes.Errorf(codes.Passphrase, "Error: The wallet passphrase entered was incorrect.")

// WrongPassphrase is the answer to a wrong passphrase. Old versions took one
// only up to a zero byte.
func WrongPassphrase(passphrase []byte, withZero string) error {
	if bytes.IndexByte(passphrase, 0) >= 0 {
		return codes.Errorf(codes.Passphrase, "%s", withZero)
	}
	return ErrPassphrase
}

// PassphraseError is the answer when no master key opens the wallet.
func PassphraseError(err, wrong error) error {
	if errors.Is(err, walletfile.ErrSomeKeys) {
		return codes.Errorf(
			codes.Misc, "Error unlocking wallet: some keys decrypt but not all. Your wallet file may be corrupt.",
		)
	}
	return wrong
}

// Masters are master keys as a passphrase opens them, right or wrong.
type Masters []Encryption

// OpenMasters derives master keys from a passphrase, which it wipes. That takes long. look has a look at each key
// unless look is nil; a key is left out where look fails. The caller wipes the keys.
func OpenMasters(
	ctx context.Context, masters []walletfile.MasterKey, passphrase messages.Secret, look func(*Encryption) error,
) (found Masters) {
	phrase := walletfile.NewSecret(passphrase)
	defer phrase.Zero()
	passphrase.Wipe()
	for _, record := range masters {
		master, err := record.Unlock(ctx, phrase)
		if err != nil {
			continue
		}
		k := Encryption{record, master}
		if look != nil && look(&k) != nil {
			master.Zero()
			continue
		}
		found = append(found, k)
	}
	return found
}

// Wipe overwrites the keys.
func (m Masters) Wipe() {
	for _, k := range m {
		k.Master.Zero()
	}
}

// Unlock unlocks a wallet with the right master key, which it returns.
//
// Errors: [walletfile.ErrPassphrase], [walletfile.ErrSomeKeys].
func (m Masters) Unlock(w *Wallet) (Encryption, error) {
	err := walletfile.ErrPassphrase
	for _, k := range m {
		if err = w.Unlock(k.Master); err == nil {
			return k, nil
		}
		if errors.Is(err, walletfile.ErrSomeKeys) {
			break
		}
	}
	return Encryption{}, err
}
