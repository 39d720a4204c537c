package wallet

import (
	"bytes"
	"maps"
	"slices"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// pqcKey is a private key of P2MR: as it lies in the file, or encrypted.
type pqcKey struct {
	plain   walletfile.PQCKey // its secret is nil if the key is encrypted
	crypted walletfile.PQCCryptedKey
	check   keyCheck // of plain ones
}

// keyCheck says whether a private key is known to belong to its public key.
type keyCheck int

const (
	keyValid keyCheck = iota
	keyPending
	keyFailed
)

func (k *pqcKey) encrypted() bool { return k.plain.Secret == nil }

func (k *pqcKey) made() uint32 {
	if k.encrypted() {
		return k.crypted.Counter
	}
	return k.plain.Made()
}

// loadPQC takes over the keys of the file. Those that are not encrypted are yet
// to be checked.
func (s *source) loadPQC(d *walletfile.Descriptor) {
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

func (s *source) pqcEncrypted() bool {
	for _, key := range s.pqc {
		return key.encrypted()
	}
	return false
}

// pqcCrypted returns the encrypted keys.
func (s *source) pqcCrypted() []walletfile.PQCCryptedKey {
	var keys []walletfile.PQCCryptedKey
	for _, key := range s.pqc {
		if key.encrypted() {
			keys = append(keys, key.crypted)
		}
	}
	return keys
}

// sortedPQC returns the public keys in their order.
func (s *source) sortedPQC() []slhdsa.PublicKey {
	return slices.SortedFunc(maps.Keys(s.pqc), comparePQC)
}

func comparePQC(a, b slhdsa.PublicKey) int { return bytes.Compare(a[:], b[:]) }

// addPQC stores a key that was made, encrypted where the wallet is.
func (w *Wallet) addPQC(s *source, key *descriptor.P2MRKey) {
	public := slhdsa.PublicKey(key.Public)
	if s.pqc[public] != nil {
		return
	}
	none := uint32(0)
	plain := walletfile.PQCKey{
		Descriptor: s.id(), Public: key.Public, Secret: walletfile.NewSecret(key.Secret), Counter: &none,
	}
	if !w.Encrypted() {
		s.pqc[public] = &pqcKey{plain: plain}
		w.log.Put(plain)
		return
	}
	defer plain.Secret.Zero()
	crypted := walletfile.EncryptPQC(w.master, plain)
	s.pqc[public] = &pqcKey{crypted: crypted}
	w.log.Put(crypted)
}

// encryptPQC encrypts all keys of a descriptor.
func (w *Wallet) encryptPQC(s *source) {
	for _, public := range s.sortedPQC() {
		key := s.pqc[public]
		if key.encrypted() {
			continue
		}
		key.crypted = walletfile.EncryptPQC(w.master, key.plain)
		w.log.Put(key.crypted)
		w.log.Remove(key.plain.Key())
		key.plain.Secret.Zero()
		key.plain.Secret = nil
	}
}

// sealPQC gives tags to encrypted keys of old versions. The wallet is unlocked.
func (w *Wallet) sealPQC() {
	for _, s := range w.sources {
		for _, public := range s.sortedPQC() {
			key := s.pqc[public]
			if !key.encrypted() || key.crypted.Tag != nil {
				continue
			}
			if sealed, err := key.crypted.WithMade(w.master, key.crypted.Counter); err == nil {
				key.crypted = sealed
				w.log.Put(sealed)
			}
		}
	}
}

// Validation tells how far unencrypted keys have been checked.
func (w *Wallet) Validation() messages.PQCValidation {
	v := messages.PQCValidation{Encrypted: w.Encrypted()}
	for _, s := range w.sources {
		for _, key := range s.pqc {
			switch {
			case key.encrypted():
			case key.check == keyPending:
				v.Pending++
			case key.check == keyFailed:
				v.Failed++
			default:
				v.Valid++
			}
		}
	}
	return v
}

// An Unchecked key is to be checked with [Unchecked.Check], which takes
// milliseconds, in any goroutine.
type Unchecked struct {
	public slhdsa.PublicKey
	secret *walletfile.Secret
}

// Check reports whether the private key belongs to the public key, and wipes it.
func (u *Unchecked) Check() bool {
	defer u.secret.Zero()
	key, err := slhdsa.ParsePrivateKey(u.secret.Bytes())
	if err != nil {
		return false
	}
	defer key.Zero()
	return key.Public() == u.public && key.Check() == nil
}

// UncheckedKeys returns at most limit keys that have not been checked yet.
func (w *Wallet) UncheckedKeys(limit int) []*Unchecked {
	var keys []*Unchecked
	for _, s := range w.sources {
		for _, key := range s.pqc {
			if len(keys) < limit && !key.encrypted() && key.check == keyPending {
				keys = append(keys, &Unchecked{slhdsa.PublicKey(key.plain.Public), key.plain.Secret.Clone()})
			}
		}
	}
	return keys
}

// Checked notes what the check of a key found.
func (w *Wallet) Checked(u *Unchecked, valid bool) {
	for _, s := range w.sources {
		if key := s.pqc[u.public]; key != nil && key.check == keyPending {
			if key.check = keyValid; !valid {
				key.check = keyFailed
			}
		}
	}
}

// CheckSigning refuses to sign while keys are unchecked, or some are not what
// they should be.
//
// Errors: [*messages.WalletError].
func (w *Wallet) CheckSigning() error {
	switch v := w.Validation(); {
	case v.Pending > 0:
		return codes.Errorf(codes.Wallet, "Error: plaintext PQC wallet key validation is still in progress. "+
			"Check getwalletinfo.pqc_key_validation before signing or sending.")
	case v.Failed > 0:
		return codes.Errorf(codes.Wallet, "Error: plaintext PQC wallet key validation failed. "+
			"Wallet signing is disabled until the wallet is restored or repaired.")
	}
	return nil
}

// CheckKeys refuses to encrypt keys that are not checked.
//
// Errors: [*messages.WalletError].
func (w *Wallet) CheckKeys() error {
	switch v := w.Validation(); {
	case v.Pending > 0:
		return codes.Errorf(codes.Wallet, "Error: plaintext PQC wallet key validation is still in progress. "+
			"Try encryptwallet again after validation completes.")
	case v.Failed > 0:
		return codes.Errorf(codes.Wallet, "Error: plaintext PQC wallet key validation failed. "+
			"Wallet encryption is disabled until the wallet is restored or repaired.")
	}
	return nil
}

// hidden reports whether the public text of a descriptor is not to be shown,
// because it looks like one that addresses can be derived from.
func (w *Wallet) hidden(s *source) bool { return w.params.Network.Restricted && s.p2mr() }

// shown returns the public text of a descriptor, if it may be shown.
func (w *Wallet) shown(s *source) (string, bool) {
	if w.hidden(s) {
		return "", false
	}
	return s.normalized()
}

// pqcStates tells of the keys behind an own P2MR script that the wallet has.
func (s *script) pqcStates(solution *descriptor.Solution) []messages.PQCUse {
	made := make(map[slhdsa.PublicKey]uint32)
	for _, leaf := range solution.Leaves {
		_, publics, ok := p2mr.MatchKeys(leaf.Script)
		for i := 0; ok && i < len(publics); i++ {
			for _, by := range s.owners {
				if key := by.source.pqc[publics[i]]; key != nil {
					made[publics[i]] = max(made[publics[i]], key.made())
				}
			}
		}
	}
	uses := make([]messages.PQCUse, 0, len(made))
	for public, n := range made {
		uses = append(uses, messages.PQCUse{PublicKey: public, Made: n})
	}
	slices.SortFunc(uses, func(a, b messages.PQCUse) int { return comparePQC(a.PublicKey, b.PublicKey) })
	return uses
}

// ReserveSignatures counts signatures before they are made: what is wanted of
// each key. The right to make them is worth nothing before the changes are on
// disk.
//
// Errors: [slhdsa.ErrLimit], nothing is counted then.
func (w *Wallet) ReserveSignatures(wanted map[slhdsa.PublicKey]uint32) ([]messages.PQCUse, *slhdsa.Reservation, error) {
	uses := make([]slhdsa.Use, 0, len(wanted))
	for public, more := range wanted {
		use := slhdsa.Use{Key: public, More: more}
		for _, s := range w.sources {
			if key := s.pqc[public]; key != nil {
				use.Made = max(use.Made, key.made())
			}
		}
		uses = append(uses, use)
	}
	slices.SortFunc(uses, func(a, b slhdsa.Use) int { return comparePQC(a.Key, b.Key) })
	var shown []messages.PQCUse
	reserved, err := slhdsa.Reserve(uses, func(counted []slhdsa.Use) error {
		for _, use := range counted {
			if err := w.count(use); err != nil {
				return err
			}
			shown = append(shown, messages.PQCUse{PublicKey: use.Key, Made: use.Made, Before: use.Made - use.More})
		}
		return nil
	})
	return shown, reserved, err
}

// CanSign reports whether the wallet has a private key, checked, that may make a
// signature yet.
func (w *Wallet) CanSign(public slhdsa.PublicKey) bool {
	return slices.ContainsFunc(w.sources, func(s *source) bool {
		key := s.pqc[public]
		return key != nil && key.check == keyValid && key.made() < slhdsa.MaxSignatures
	})
}

// count notes the number of signatures of a key in all its records.
func (w *Wallet) count(use slhdsa.Use) error {
	for _, s := range w.sources {
		key := s.pqc[use.Key]
		switch {
		case key == nil:
		case key.encrypted():
			counted, err := key.crypted.WithMade(w.master, use.Made)
			if err != nil {
				return err
			}
			key.crypted = counted
			w.log.Put(counted)
		default:
			key.plain = key.plain.WithMade(use.Made)
			w.log.Put(key.plain)
		}
	}
	return nil
}

// PQCSecret returns a private key that may sign, which the caller zeroes; nil if
// the wallet has none, or is locked.
func (w *Wallet) PQCSecret(public slhdsa.PublicKey) *slhdsa.PrivateKey {
	for _, s := range w.sources {
		key := s.pqc[public]
		if key == nil || key.check != keyValid {
			continue
		}
		secret := key.plain.Secret.Clone()
		if key.encrypted() {
			if w.master == nil {
				return nil
			}
			var err error
			if secret, err = key.crypted.Decrypt(w.master); err != nil {
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
