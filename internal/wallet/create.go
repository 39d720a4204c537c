package wallet

import (
	"context"

	"github.com/seed61375155/trawl/internal/walletfile"
)

// CreateParams says what kind of wallet to make.
type CreateParams struct {
	Params

	DisablePrivateKeys bool
	Blank              bool // without descriptors
	AvoidReuse         bool
	ExternalSigner     bool // the keys are on a device; its descriptors are added next

	// Seed is 32 random bytes; nil for a wallet that is blank, or without
	// private keys.
	Seed *walletfile.Secret

	// Encryption is nil for a wallet that is not encrypted. An encrypted one
	// is locked.
	Encryption *Encryption

	Now int64
}

// Create makes a wallet, which takes milliseconds for each key of P2MR. Its changes are the
// whole file but for the best block.
//
// Errors: [*messages.WalletError], that of the context.
func Create(ctx context.Context, p CreateParams) (*Wallet, error) {
	w := newWallet(p.Params, 0)
	w.log.Put(p.Version)
	flags := walletfile.Descriptors | walletfile.LastHardenedXpubCached
	if p.DisablePrivateKeys {
		flags |= walletfile.DisablePrivateKeys
	}
	if p.Blank || p.Encryption != nil { // what is born encrypted is blank first
		flags |= walletfile.Blank
	}
	if p.AvoidReuse {
		flags |= walletfile.AvoidReuse
	}
	if p.ExternalSigner {
		flags |= walletfile.ExternalSigner
	}
	w.flags.Set(flags)
	if p.Encryption != nil {
		if err := w.Encrypt(*p.Encryption, nil, p.Now); err != nil { //nolint:contextcheck // it is blank
			return nil, err
		}
		if err := w.Unlock(p.Encryption.Master); err != nil {
			return nil, err
		}
		defer w.vault.Lock()
	}
	if !p.Blank && !p.DisablePrivateKeys {
		if err := w.importer.SetupWithKeys(ctx, p.Seed, p.Now); err != nil {
			return nil, err
		}
	}
	w.keys.ChooseDefaultTypes()
	w.keys.NoteActive()
	return w, nil
}
