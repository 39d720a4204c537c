package wallet

import (
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// Encryption is a master key with its record, in which it is encrypted under a
// passphrase.
type Encryption struct {
	Record walletfile.MasterKey
	Master *walletfile.Secret
}

// Unlock makes the private keys available, and completes the caches of old
// wallets. It takes a copy of the master key.
//
// Errors: [walletfile.ErrPassphrase], [walletfile.ErrSomeKeys].
func (w *Wallet) Unlock(master *walletfile.Secret) error {
	if err := w.vault.Unlock(master); err != nil {
		return err
	}
	w.pool.CompleteCaches()
	return nil
}

// CheckEncryptable tells whether the wallet can be encrypted.
//
// Errors: [*messages.WalletError].
func (w *Wallet) CheckEncryptable() error {
	switch {
	case w.flags.Has(walletfile.DisablePrivateKeys):
		return codes.Errorf(codes.EncryptionFailed,
			"Error: wallet does not contain private keys, nothing to encrypt.")
	case w.vault.Encrypted():
		return codes.Errorf(codes.WrongEncryption,
			"Error: running with an encrypted wallet, but encryptwallet was called.")
	}
	return nil
}

// Encrypt encrypts all private keys, and makes new descriptors from a seed of 32
// bytes unless the wallet is a blank one. It is locked then. Because the keys
// were in the file before, the file should be rewritten.
//
// Errors: [*messages.WalletError] as [Wallet.CheckEncryptable].
func (w *Wallet) Encrypt(e Encryption, seed *walletfile.Secret, now int64) error {
	if err := w.CheckEncryptable(); err != nil {
		return err
	}
	if err := w.vault.CheckEncrypting(); err != nil {
		return err
	}
	defer w.vault.Lock()
	w.vault.Encrypt(e.Record, e.Master)
	if w.flags.Has(walletfile.Blank) {
		return nil
	}
	return w.importer.Setup(seed, now)
}
