package wallet

import (
	"bytes"
	"maps"
	"slices"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// addKey stores a private key of a descriptor, encrypted where the wallet is.
// The wallet is unlocked.
func (w *Wallet) addKey(s *source, public walletfile.PublicKey, secret *walletfile.Secret) {
	id := keyIDOf(public)
	if s.hasKey(id) {
		return
	}
	if w.Encrypted() {
		key := walletfile.DescriptorCryptedKey{
			Descriptor: s.id(), Public: public, Ciphertext: walletfile.EncryptKey(w.master, public, secret),
		}
		s.crypted[id] = key
		w.log.Put(key)
		return
	}
	key := walletfile.DescriptorKey{Descriptor: s.id(), Public: public, Secret: secret.Clone()}
	s.keys[id] = key
	w.log.Put(key)
}

// addKeys stores private keys, in the order of their ids.
func (w *Wallet) addKeys(s *source, keys []descriptor.PrivateKey) {
	for i := range keys {
		secret := walletfile.NewSecret(keys[i].Scalar[:])
		w.addKey(s, keys[i].PublicKey(), secret)
		secret.Zero()
	}
}

func (s *source) hasKey(id keyID) bool {
	_, plain := s.keys[id]
	_, crypted := s.crypted[id]
	return plain || crypted
}

// secret returns a private key of the descriptor, which the caller wipes. It is
// nil where there is none, or the wallet is locked.
func (w *Wallet) secret(s *source, id keyID) *walletfile.Secret {
	if key, ok := s.keys[id]; ok {
		return key.Secret.Clone()
	}
	key, ok := s.crypted[id]
	if !ok || w.master == nil {
		return nil
	}
	secret, err := key.Decrypt(w.master)
	if err != nil {
		return nil
	}
	return secret
}

// privateKeys returns the private keys of the descriptor as far as the wallet is
// unlocked. The caller wipes them.
func (w *Wallet) privateKeys(s *source) []descriptor.PrivateKey {
	publics := make(map[keyID]walletfile.PublicKey, len(s.keys)+len(s.crypted))
	for id, key := range s.keys {
		publics[id] = key.Public
	}
	for id, key := range s.crypted {
		publics[id] = key.Public
	}
	var keys []descriptor.PrivateKey
	for _, id := range slices.SortedFunc(maps.Keys(publics), compareKeyIDs) {
		secret := w.secret(s, id)
		if secret == nil {
			continue
		}
		key := descriptor.PrivateKey{Compressed: publics[id].Compressed(), Filed: string(publics[id])}
		copy(key.Scalar[:], secret.Bytes())
		secret.Zero()
		keys = append(keys, key)
	}
	return keys
}

func compareKeyIDs(a, b keyID) int { return bytes.Compare(a[:], b[:]) }

// withPrivateKeys returns the descriptor with its private keys, as far as the
// wallet is unlocked.
func (w *Wallet) withPrivateKeys(s *source) (*descriptor.Descriptor, error) {
	keys := w.privateKeys(s)
	defer clear(keys)
	branches, err := descriptor.Parse(s.record.Text, w.params.Network, descriptor.Options{PrivateKeys: keys})
	if err != nil {
		return nil, err
	}
	return branches[0].WithCache(s.cache), nil
}

// SigningDescriptor returns the descriptor of an own script, with the private
// keys of a wallet that is unlocked, and the index of the script. It is false
// for other scripts.
func (w *Wallet) SigningDescriptor(pkScript []byte) (d *descriptor.Descriptor, index uint32, ok bool) {
	own := w.scripts[string(pkScript)]
	if own == nil || !own.mine() {
		return nil, 0, false
	}
	d, err := w.withPrivateKeys(own.owners[0].source)
	if err != nil {
		return nil, 0, false
	}
	return d, uint32(own.owners[0].index), true
}
