package wallet

import (
	"maps"
	"slices"

	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// Encryption is a master key with its record, in which it is encrypted under a
// passphrase.
type Encryption struct {
	Record walletfile.MasterKey
	Master *walletfile.Secret
}

// Encrypted reports whether the wallet has a passphrase.
func (w *Wallet) Encrypted() bool { return len(w.masterKeys) > 0 }

// Locked reports whether the private keys are out of reach.
func (w *Wallet) Locked() bool { return w.Encrypted() && w.master == nil }

// MasterKeys returns the encrypted master keys by their ids. A passphrase is
// tried with each.
func (w *Wallet) MasterKeys() []walletfile.MasterKey {
	keys := make([]walletfile.MasterKey, 0, len(w.masterKeys))
	for _, id := range slices.Sorted(maps.Keys(w.masterKeys)) {
		keys = append(keys, w.masterKeys[id])
	}
	return keys
}

// Unlock makes the private keys available, tops the key pool up, and completes
// the caches of old wallets. It takes a copy of the master key.
//
// Errors: [walletfile.ErrPassphrase], [walletfile.ErrSomeKeys].
func (w *Wallet) Unlock(master *walletfile.Secret) error {
	for _, s := range w.sources {
		if len(s.keys) > 0 {
			return walletfile.ErrPassphrase
		}
		if err := walletfile.CheckMaster(master, slices.Collect(maps.Values(s.crypted))); err != nil {
			return err
		}
		if err := walletfile.CheckPQCMaster(master, s.pqcCrypted()); err != nil {
			return err
		}
	}
	w.Lock()
	w.master = master.Clone()
	w.sealPQC()
	w.completeCaches()
	return nil
}

// Lock makes the private keys unavailable.
func (w *Wallet) Lock() {
	w.master.Zero()
	w.master = nil
}

// completeCaches adds the last hardened keys to the caches of wallets of old
// versions.
func (w *Wallet) completeCaches() {
	if w.Locked() || w.flags.Has(walletfile.LastHardenedXpubCached) {
		return
	}
	for _, s := range w.sources {
		if s.cache.lastHardened == 0 {
			_ = w.fillCache(s, 0, 0)
		}
	}
	w.flags.Set(w.flags.Value() | walletfile.LastHardenedXpubCached)
}

// CheckEncryptable tells whether the wallet can be encrypted.
//
// Errors: [*messages.WalletError].
func (w *Wallet) CheckEncryptable() error {
	switch {
	case w.flags.Has(walletfile.DisablePrivateKeys):
		return codes.Errorf(codes.EncryptionFailed, "Error: wallet does not contain private keys, nothing to encrypt.")
	case w.Encrypted():
		return codes.Errorf(codes.WrongEncryption,
			"Error: running with an encrypted wallet, but encryptwallet was called.")
	}
	return nil
}

// Encrypt encrypts all private keys, and makes new descriptors from a seed of 32
// bytes unless the wallet is a blank one. It is locked then. Because the keys
// were in the file before, the file should be written anew.
//
// Errors: [*messages.WalletError] as [Wallet.CheckEncryptable].
func (w *Wallet) Encrypt(e Encryption, seed *walletfile.Secret, now int64) error {
	if err := w.CheckEncryptable(); err != nil {
		return err
	}
	if err := w.CheckKeys(); err != nil {
		return err
	}
	defer w.Lock()
	w.master = e.Master.Clone()
	w.SetMasterKey(e.Record)
	for _, s := range w.sources {
		w.encryptKeys(s)
	}
	if w.flags.Has(walletfile.Blank) {
		return nil
	}
	return w.Setup(seed, now)
}

func (w *Wallet) encryptKeys(s *source) {
	for _, id := range slices.SortedFunc(maps.Keys(s.keys), compareKeyIDs) {
		key := s.keys[id]
		crypted := walletfile.DescriptorCryptedKey{
			Descriptor: s.id(), Public: key.Public, Ciphertext: walletfile.EncryptKey(w.master, key.Public, key.Secret),
		}
		s.crypted[id] = crypted
		w.log.Put(crypted)
		w.log.Remove(key.Key())
		key.Secret.Zero()
	}
	clear(s.keys)
	w.encryptPQC(s)
}

// SetMasterKey writes a master key whose passphrase has changed.
func (w *Wallet) SetMasterKey(record walletfile.MasterKey) {
	w.masterKeys[record.ID] = record
	w.log.Put(record)
}
