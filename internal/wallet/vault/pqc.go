package vault

import (
	"bytes"
	"maps"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// pqcKey is a private key of P2MR: as it lies in the file, or encrypted.
type pqcKey struct {
	plain   walletfile.PQCKey // its secret is nil if the key is encrypted
	crypted walletfile.PQCCryptedKey
	check   keyCheck // of plain ones
}

func (k *pqcKey) encrypted() bool { return k.plain.Secret == nil }

// signatures is how many signatures the key has made, or may have made.
func (k *pqcKey) signatures() uint32 {
	if k.encrypted() {
		return k.crypted.Counter
	}
	return k.plain.Made()
}

// loadPQC takes over the keys of the file. Keys that are not encrypted are yet
// to be checked.
func (s *secrets) loadPQC(d *walletfile.Descriptor) {
	for _, key := range d.PQCKeys {
		key.Secret = key.Secret.Clone()
		s.pqc[key.Public] = &pqcKey{plain: key, check: keyPending}
	}
	for _, key := range d.PQCCryptedKeys {
		if s.pqc[key.Public] == nil {
			s.pqc[key.Public] = &pqcKey{crypted: key}
		}
	}
}

// pqcEncrypted reports whether any key is encrypted.
func (s *secrets) pqcEncrypted() bool {
	for _, key := range s.pqc {
		if key.encrypted() {
			return true
		}
	}
	return false
}

// pqcCrypted returns the encrypted keys.
func (s *secrets) pqcCrypted() []walletfile.PQCCryptedKey {
	var keys []walletfile.PQCCryptedKey
	for _, key := range s.pqc {
		if key.encrypted() {
			keys = append(keys, key.crypted)
		}
	}
	return keys
}

// sortedPQC returns the public keys in their order.
func (s *secrets) sortedPQC() []slhdsa.PublicKey {
	return slices.SortedFunc(maps.Keys(s.pqc), comparePQC)
}

func comparePQC(a, b slhdsa.PublicKey) int { return bytes.Compare(a[:], b[:]) }

// AddPQC stores a key that was made for a descriptor, encrypted where the wallet
// is. The wallet is unlocked.
func (v *Vault) AddPQC(id chainhash.Hash, key *descriptor.P2MRKey) {
	s, public := v.of(id), slhdsa.PublicKey(key.Public)
	if s.pqc[public] != nil {
		return
	}
	none := uint32(0)
	plain := walletfile.PQCKey{
		Descriptor: id, Public: key.Public, Secret: walletfile.NewSecret(key.Secret), Counter: &none,
	}
	if !v.Encrypted() {
		s.pqc[public] = &pqcKey{plain: plain}
		v.log.Put(plain)
		return
	}
	defer plain.Secret.Zero()
	crypted := walletfile.EncryptPQC(v.master, plain)
	s.pqc[public] = &pqcKey{crypted: crypted}
	v.log.Put(crypted)
}

// encryptPQC encrypts all keys of a descriptor.
func (v *Vault) encryptPQC(s *secrets) {
	for _, public := range s.sortedPQC() {
		key := s.pqc[public]
		if key.encrypted() {
			continue
		}
		key.crypted = walletfile.EncryptPQC(v.master, key.plain)
		v.log.Put(key.crypted)
		v.log.Remove(key.plain.Key())
		key.plain.Secret.Zero()
		key.plain.Secret = nil
	}
}

// sealPQC gives tags to encrypted keys of old versions. The wallet is unlocked.
func (v *Vault) sealPQC() {
	for _, s := range v.order {
		for _, public := range s.sortedPQC() {
			key := s.pqc[public]
			if !key.encrypted() || key.crypted.Tag != nil {
				continue
			}
			if sealed, err := key.crypted.WithMade(v.master, key.crypted.Counter); err == nil {
				key.crypted = sealed
				v.log.Put(sealed)
			}
		}
	}
}

// PQCKeys returns the public keys whose private keys are stored with a descriptor,
// in their order.
func (v *Vault) PQCKeys(id chainhash.Hash) []slhdsa.PublicKey {
	if s := v.secretOf[id]; s != nil {
		return s.sortedPQC()
	}
	return nil
}

// PQCSecret returns a private key that may sign, which the caller zeroes; nil if
// the wallet has none, or is locked.
func (v *Vault) PQCSecret(public slhdsa.PublicKey) *slhdsa.PrivateKey {
	for _, s := range v.order {
		key := s.pqc[public]
		if key == nil || key.check != keyValid {
			continue
		}
		secret := key.plain.Secret.Clone()
		if key.encrypted() {
			if v.master == nil {
				return nil
			}
			var err error
			if secret, err = key.crypted.Decrypt(v.master); err != nil {
				return nil
			}
		}
		private, err := slhdsa.ParsePrivateKey(secret.Bytes())
		secret.Zero()
		if err == nil {
			return private
		}
	}
	return nil
}
