// Package vault holds the secrets of a wallet: its master key, and the private
// keys of its descriptors. Nothing else sees them: keys are handed out one by one,
// as copies that the caller wipes.
//
// It is the one place that knows whether a wallet is encrypted, and whether it is
// locked.
package vault

import (
	"maps"
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// KeyID is the hash by which a wallet names a public key.
type KeyID [20]byte

// KeyIDOf returns the name of a public key.
func KeyIDOf(public []byte) KeyID { return KeyID(btcutil.Hash160(public)) }

// Vault holds the secrets of one wallet.
type Vault struct {
	log        *records.Log
	masterKeys map[uint32]walletfile.MasterKey
	master     *walletfile.Secret // nil while locked

	order    []*secrets // in the order in which their descriptors came
	secretOf map[chainhash.Hash]*secrets
}

// secrets are the private keys of one descriptor.
type secrets struct {
	id      chainhash.Hash
	keys    map[KeyID]walletfile.DescriptorKey
	crypted map[KeyID]walletfile.DescriptorCryptedKey
	pqc     map[slhdsa.PublicKey]*pqcKey
}

// New returns an empty vault, which is not encrypted. Its changes go into the
// log.
func New(log *records.Log) *Vault {
	return &Vault{
		log:        log,
		masterKeys: make(map[uint32]walletfile.MasterKey),
		secretOf:   make(map[chainhash.Hash]*secrets),
	}
}

// LoadMasterKeys takes over the master keys of the file.
func (v *Vault) LoadMasterKeys(masterKeys map[uint32]walletfile.MasterKey) {
	maps.Copy(v.masterKeys, masterKeys)
}

// Load takes over the private keys of a descriptor from the file, with copies of
// those that are not encrypted.
func (v *Vault) Load(d *walletfile.Descriptor) {
	s := v.of(d.ID)
	for _, key := range d.Keys {
		s.keys[KeyIDOf(key.Public)] = walletfile.DescriptorKey{
			Descriptor: key.Descriptor, Public: key.Public, Secret: key.Secret.Clone(),
		}
	}
	for _, key := range d.CryptedKeys {
		s.crypted[KeyIDOf(key.Public)] = key
	}
	s.loadPQC(d)
}

// of returns the secrets of a descriptor, and makes room for a new descriptor's.
func (v *Vault) of(id chainhash.Hash) *secrets {
	s := v.secretOf[id]
	if s == nil {
		s = &secrets{
			id:      id,
			keys:    make(map[KeyID]walletfile.DescriptorKey),
			crypted: make(map[KeyID]walletfile.DescriptorCryptedKey),
			pqc:     make(map[slhdsa.PublicKey]*pqcKey),
		}
		v.order = append(v.order, s)
		v.secretOf[id] = s
	}
	return s
}

// Encrypted reports whether the wallet has a passphrase.
func (v *Vault) Encrypted() bool { return len(v.masterKeys) > 0 }

// Locked reports whether the private keys are out of reach.
func (v *Vault) Locked() bool { return v.Encrypted() && v.master == nil }

// NeedUnlocked fails while the wallet is locked.
//
// Errors: [*messages.WalletError].
func (v *Vault) NeedUnlocked() error {
	if v.Locked() {
		return codes.Errorf(codes.UnlockNeeded,
			"Error: Please enter the wallet passphrase with walletpassphrase first.")
	}
	return nil
}

// MasterKeys returns the encrypted master keys by their ids. A passphrase is
// tried with each.
func (v *Vault) MasterKeys() []walletfile.MasterKey {
	keys := make([]walletfile.MasterKey, 0, len(v.masterKeys))
	for _, id := range slices.Sorted(maps.Keys(v.masterKeys)) {
		keys = append(keys, v.masterKeys[id])
	}
	return keys
}

// SetMasterKey writes a master key that is new, or whose passphrase has changed.
func (v *Vault) SetMasterKey(record walletfile.MasterKey) {
	v.masterKeys[record.ID] = record
	v.log.Put(record)
}

// DropMasterKeys removes the master keys where nothing is encrypted under them. It reports
// whether there were any.
func (v *Vault) DropMasterKeys() bool {
	for _, s := range v.order {
		if len(s.crypted) > 0 || s.pqcEncrypted() {
			return false
		}
	}
	dropped := len(v.masterKeys) > 0
	for _, key := range v.MasterKeys() {
		v.log.Remove(key.Key())
		delete(v.masterKeys, key.ID)
	}
	return dropped
}

// Unlock makes the private keys available. It takes a copy of the master key.
//
// Errors: [walletfile.ErrPassphrase], [walletfile.ErrSomeKeys]; keys that were
// unlocked before stay unlocked.
func (v *Vault) Unlock(master *walletfile.Secret) error {
	for _, s := range v.order {
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
	v.Lock()
	v.master = master.Clone()
	v.sealPQC()
	return nil
}

// Lock makes the private keys unavailable.
func (v *Vault) Lock() {
	v.master.Zero()
	v.master = nil
}

// Encrypt encrypts all private keys under a master key, of which it takes a copy,
// and leaves them unlocked.
func (v *Vault) Encrypt(record walletfile.MasterKey, master *walletfile.Secret) {
	v.master = master.Clone()
	v.SetMasterKey(record)
	for _, s := range v.order {
		v.encryptKeys(s)
		v.encryptPQC(s)
	}
}

func (v *Vault) encryptKeys(s *secrets) {
	for _, id := range slices.SortedFunc(maps.Keys(s.keys), compareKeyIDs) {
		key := s.keys[id]
		crypted := walletfile.DescriptorCryptedKey{
			Descriptor: s.id, Public: key.Public, Ciphertext: walletfile.EncryptKey(v.master, key.Public, key.Secret),
		}
		s.crypted[id] = crypted
		v.log.Put(crypted)
		v.log.Remove(key.Key())
		key.Secret.Zero()
	}
	clear(s.keys)
}

// Close wipes all that is secret. The vault is of no use afterwards.
func (v *Vault) Close() {
	v.Lock()
	for _, s := range v.order {
		for _, key := range s.keys {
			key.Secret.Zero()
		}
		for _, key := range s.pqc {
			key.plain.Secret.Zero()
		}
	}
}
