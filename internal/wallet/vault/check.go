package vault

import (
	"context"

	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// keyCheck says whether a private key of P2MR is known to belong to its public
// key.
type keyCheck int

const (
	keyValid keyCheck = iota
	keyPending
	keyFailed
)

// Validation tells how far unencrypted keys have been checked.
func (v *Vault) Validation() messages.PQCValidation {
	counted := messages.PQCValidation{Encrypted: v.Encrypted()}
	for _, s := range v.order {
		for _, key := range s.pqc {
			switch {
			case key.encrypted():
			case key.check == keyPending:
				counted.Pending++
			case key.check == keyFailed:
				counted.Failed++
			default:
				counted.Valid++
			}
		}
	}
	return counted
}

// An Unchecked key is to be checked with [Unchecked.Check], which takes
// milliseconds, in any goroutine.
type Unchecked struct {
	public slhdsa.PublicKey
	secret *walletfile.Secret
}

// Check reports whether the private key belongs to the public key, and wipes it. It
// only wipes it, and returns false, once the context has ended.
func (u *Unchecked) Check(ctx context.Context) bool {
	defer u.secret.Zero()
	if ctx.Err() != nil {
		return false
	}
	key, err := slhdsa.ParsePrivateKey(u.secret.Bytes())
	if err != nil {
		return false
	}
	defer key.Zero()
	return key.Public() == u.public && key.Check() == nil
}

// UncheckedKeys returns at most limit keys that have not been checked yet.
func (v *Vault) UncheckedKeys(limit int) []*Unchecked {
	var keys []*Unchecked
	for _, s := range v.order {
		for _, key := range s.pqc {
			if len(keys) < limit && !key.encrypted() && key.check == keyPending {
				keys = append(keys, &Unchecked{slhdsa.PublicKey(key.plain.Public), key.plain.Secret.Clone()})
			}
		}
	}
	return keys
}

// Checked notes what the check of a key found.
func (v *Vault) Checked(u *Unchecked, valid bool) {
	for _, s := range v.order {
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
func (v *Vault) CheckSigning() error {
	return v.refuseUnchecked("Check getwalletinfo.pqc_key_validation before signing or sending.", "signing")
}

// CheckSigningData is CheckSigning for data other than transactions.
//
// Errors: [*messages.WalletError].
func (v *Vault) CheckSigningData() error {
	return v.refuseUnchecked("Check getwalletinfo.pqc_key_validation before signing.", "signing")
}

// CheckEncrypting refuses to encrypt keys that are not checked.
//
// Errors: [*messages.WalletError].
func (v *Vault) CheckEncrypting() error {
	return v.refuseUnchecked("Try encryptwallet again after validation completes.", "encryption")
}

// refuseUnchecked says what to do while keys are unchecked, or what is disabled since some
// are not what they should be.
func (v *Vault) refuseUnchecked(whilePending, disabled string) error {
	const about = "Error: plaintext PQC wallet key validation "
	switch found := v.Validation(); {
	case found.Pending > 0:
		return codes.Errorf(codes.Wallet, "%sis still in progress. %s", about, whilePending)
	case found.Failed > 0:
		return codes.Errorf(codes.Wallet, "%sfailed. Wallet %s is disabled until the wallet is restored or repaired.",
			about, disabled)
	}
	return nil
}
