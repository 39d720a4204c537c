package vault

import (
	"bytes"
	"maps"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// AddKey stores a copy of a private key of a descriptor, encrypted where the
// wallet is. The wallet is unlocked.
func (v *Vault) AddKey(id chainhash.Hash, public walletfile.PublicKey, secret *walletfile.Secret) {
	s, keyID := v.of(id), KeyIDOf(public)
	if s.has(keyID) {
		return
	}
	if v.Encrypted() {
		key := walletfile.DescriptorCryptedKey{
			Descriptor: id, Public: public, Ciphertext: walletfile.EncryptKey(v.master, public, secret),
		}
		s.crypted[keyID] = key
		v.log.Put(key)
		return
	}
	key := walletfile.DescriptorKey{Descriptor: id, Public: public, Secret: secret.Clone()}
	s.keys[keyID] = key
	v.log.Put(key)
}

// AddKeys stores private keys of a descriptor: see [Vault.AddKey].
func (v *Vault) AddKeys(id chainhash.Hash, keys []descriptor.PrivateKey) {
	for i := range keys {
		secret := walletfile.NewSecret(keys[i].Scalar[:])
		v.AddKey(id, keys[i].PublicKey(), secret)
		secret.Zero()
	}
}

// HasKeys reports whether there are private keys of a descriptor, locked or not.
func (v *Vault) HasKeys(id chainhash.Hash) bool {
	s := v.secretOf[id]
	return s != nil && len(s.keys)+len(s.crypted) > 0
}

// Has reports whether there is a private key of a descriptor, locked or not.
func (v *Vault) Has(id chainhash.Hash, key KeyID) bool {
	s := v.secretOf[id]
	return s != nil && s.has(key)
}

func (s *secrets) has(key KeyID) bool {
	_, plain := s.keys[key]
	_, crypted := s.crypted[key]
	return plain || crypted
}

// Secret returns a private key of a descriptor, which the caller wipes. It is nil
// where there is none, or the wallet is locked.
func (v *Vault) Secret(id chainhash.Hash, key KeyID) *walletfile.Secret {
	s := v.secretOf[id]
	if s == nil {
		return nil
	}
	if plain, ok := s.keys[key]; ok {
		return plain.Secret.Clone()
	}
	crypted, ok := s.crypted[key]
	if !ok || v.master == nil {
		return nil
	}
	secret, err := crypted.Decrypt(v.master)
	if err != nil {
		return nil
	}
	return secret
}

// WithPrivateKeys hands use the private keys of a descriptor as far as the wallet is
// unlocked, in the order of their ids. They are wiped when it returns.
func (v *Vault) WithPrivateKeys(id chainhash.Hash, use func(keys []descriptor.PrivateKey)) {
	keys := v.privateKeys(id)
	defer clear(keys)
	use(keys)
}

func (v *Vault) privateKeys(id chainhash.Hash) []descriptor.PrivateKey {
	s := v.secretOf[id]
	if s == nil {
		return nil
	}
	publics := make(map[KeyID]walletfile.PublicKey, len(s.keys)+len(s.crypted))
	for keyID, key := range s.keys {
		publics[keyID] = key.Public
	}
	for keyID, key := range s.crypted {
		publics[keyID] = key.Public
	}
	keys := make([]descriptor.PrivateKey, 0, len(publics)) // nothing is left where it would have grown
	for _, keyID := range slices.SortedFunc(maps.Keys(publics), compareKeyIDs) {
		secret := v.Secret(id, keyID)
		if secret == nil {
			continue
		}
		key := descriptor.PrivateKey{Compressed: publics[keyID].Compressed(), Filed: string(publics[keyID])}
		copy(key.Scalar[:], secret.Bytes())
		secret.Zero()
		keys = append(keys, key)
	}
	return keys
}

func compareKeyIDs(a, b KeyID) int { return bytes.Compare(a[:], b[:]) }
