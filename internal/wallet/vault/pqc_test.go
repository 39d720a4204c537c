package vault_test

import (
	"bytes"
	"errors"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/wallet/vault"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// pqcKeys are two keys of P2MR, which take milliseconds to make.
var pqcKeys = sync.OnceValue(func() (keys [2]descriptor.P2MRKey) {
	for i := range keys {
		private, err := slhdsa.GenerateKey(bytes.Repeat([]byte{byte(i + 1)}, 128))
		if err != nil {
			panic(err)
		}
		keys[i] = descriptor.P2MRKey{Public: private.Public(), Secret: private.Bytes()}
	}
	return keys
})

// signs reports whether the vault hands out a private key.
func signs(v *vault.Vault, public slhdsa.PublicKey) bool {
	key := v.PQCSecret(public)
	if key == nil {
		return false
	}
	defer key.Zero()
	return key.Public() == public
}

// Signatures are counted before they are made, in all records of a key, encrypted
// or not, and not beyond the limit.
func TestSignatures(t *testing.T) {
	keys := pqcKeys()
	one, two := slhdsa.PublicKey(keys[0].Public), slhdsa.PublicKey(keys[1].Public)
	for _, encrypted := range []bool{false, true} {
		var log records.Log
		v := vault.New(&log)
		record, master := masterOf(1)
		if encrypted {
			v.Encrypt(record, master)
		}
		v.AddPQC(chainhash.Hash{1}, &keys[0])
		v.AddPQC(chainhash.Hash{2}, &keys[0])
		v.AddPQC(chainhash.Hash{2}, &keys[1])
		if changes := log.Take(); len(changes) != 3+countOf(encrypted) {
			t.Errorf("encrypted %v: %d records of three keys", encrypted, len(changes))
		}
		v.AddPQC(chainhash.Hash{2}, &keys[1])
		if changes := log.Take(); len(changes) > 0 {
			t.Errorf("encrypted %v: a key that is there is written again", encrypted)
		}

		uses, reserved, err := v.ReserveSignatures(map[slhdsa.PublicKey]uint32{one: slhdsa.MaxSignatures - 1, two: 2})
		if err != nil || reserved == nil || len(uses) != 2 {
			t.Fatalf("encrypted %v: %v, %v", encrypted, uses, err)
		}
		if changes := log.Take(); len(changes) != 3 {
			t.Errorf("encrypted %v: %d records of signatures, want 3", encrypted, len(changes))
		}
		for id, want := range map[byte]uint32{1: slhdsa.MaxSignatures - 1, 2: slhdsa.MaxSignatures - 1, 3: 0} {
			if n, ok := v.Signatures(chainhash.Hash{id}, one); n != want || ok != (id < 3) {
				t.Errorf("encrypted %v: %d signatures with descriptor %d, want %d", encrypted, n, id, want)
			}
		}
		_, _, err = v.ReserveSignatures(map[slhdsa.PublicKey]uint32{one: 2, two: 1})
		if !errors.Is(err, slhdsa.ErrLimit) || len(log.Take()) > 0 {
			t.Errorf("encrypted %v: beyond the limit: %v", encrypted, err)
		}
		if n, _ := v.Signatures(chainhash.Hash{2}, two); n != 2 {
			t.Errorf("encrypted %v: %d signatures of the other key after a refusal", encrypted, n)
		}
		_, _, err = v.ReserveSignatures(map[slhdsa.PublicKey]uint32{one: 1})
		if err != nil || v.CanSign(one) || !v.CanSign(two) {
			t.Errorf("encrypted %v: the last one: %v", encrypted, err)
		}
		if keys := v.PQCKeys(chainhash.Hash{2}); len(keys) != 2 || len(v.PQCKeys(chainhash.Hash{3})) > 0 {
			t.Errorf("encrypted %v: keys %v", encrypted, keys)
		}
	}
}

// countOf is how many master keys a wallet has.
func countOf(encrypted bool) int {
	if encrypted {
		return 1
	}
	return 0
}

// Keys from a file that are not encrypted neither sign nor are encrypted before
// they have been checked. Wrong ones never are.
func TestChecks(t *testing.T) {
	keys := pqcKeys()
	wrong := bytes.Clone(keys[1].Secret)
	wrong[0] ^= 1
	const (
		pending = "Error: plaintext PQC wallet key validation is still in progress. "
		failed  = "Error: plaintext PQC wallet key validation failed. "
	)
	for _, test := range []struct {
		key   walletfile.PQCKey
		right bool
	}{
		{walletfile.PQCKey{Public: keys[0].Public, Secret: walletfile.NewSecret(keys[0].Secret)}, true},
		{walletfile.PQCKey{Public: keys[1].Public, Secret: walletfile.NewSecret(wrong)}, false},
	} {
		public := slhdsa.PublicKey(test.key.Public)
		v := vault.New(new(records.Log))
		v.Load(&walletfile.Descriptor{}) // without this key
		d := walletfile.Descriptor{PQCKeys: []walletfile.PQCKey{test.key}}
		d.ID = chainhash.Hash{1}
		v.Load(&d)
		if got := v.Validation(); got.Pending != 1 || got.Valid+got.Failed != 0 || got.Encrypted {
			t.Errorf("right %v, before: %+v", test.right, got)
		}
		checkRefused(t, v.CheckSigning(), pending+"Check getwalletinfo.pqc_key_validation before signing or sending.")
		checkRefused(t, v.CheckSigningData(), pending+"Check getwalletinfo.pqc_key_validation before signing.")
		checkRefused(t, v.CheckEncrypting(), pending+"Try encryptwallet again after validation completes.")
		if v.CanSign(public) || signs(v, public) {
			t.Errorf("right %v: it signs before it was checked", test.right)
		}
		if got := len(v.UncheckedKeys(0)); got != 0 {
			t.Errorf("%d keys to check, want none", got)
		}
		for _, u := range v.UncheckedKeys(5) {
			v.Checked(u, u.Check(t.Context()))
			v.Checked(u, !test.right) // it stays what it was found to be
		}
		signing, encrypting := "", ""
		want := messages.PQCValidation{Valid: 1}
		if !test.right {
			signing = failed + "Wallet signing is disabled until the wallet is restored or repaired."
			encrypting = failed + "Wallet encryption is disabled until the wallet is restored or repaired."
			want = messages.PQCValidation{Failed: 1}
		}
		if got := v.Validation(); got != want {
			t.Errorf("right %v, after: %+v", test.right, got)
		}
		checkRefused(t, v.CheckSigning(), signing)
		checkRefused(t, v.CheckEncrypting(), encrypting)
		if v.CanSign(public) != test.right || signs(v, public) != test.right || len(v.UncheckedKeys(5)) > 0 {
			t.Errorf("right %v: it signs: %v", test.right, signs(v, public))
		}
	}
}

// checkRefused checks the text of a refusal; none is wanted for no text.
func checkRefused(t *testing.T, err error, want string) {
	t.Helper()
	var refused *messages.WalletError
	got := ""
	if errors.As(err, &refused) {
		got = refused.Text
	}
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A locked wallet hands out no key of P2MR. Records of old versions, which lack
// their tags, get them when it is unlocked.
func TestLockedPQC(t *testing.T) {
	keys := pqcKeys()
	one := slhdsa.PublicKey(keys[0].Public)
	record, master := masterOf(1)
	secret := walletfile.NewSecret(keys[0].Secret)
	crypted := walletfile.EncryptPQC(master, walletfile.PQCKey{Public: keys[0].Public, Secret: secret})
	crypted.Tag = nil
	var log records.Log
	v := vault.New(&log)
	v.LoadMasterKeys(map[uint32]walletfile.MasterKey{1: record})
	v.Load(&walletfile.Descriptor{PQCCryptedKeys: []walletfile.PQCCryptedKey{crypted}})
	if signs(v, one) || !v.CanSign(one) {
		t.Error("a locked wallet hands out a key, or does not know that it may sign")
	}
	_, other := masterOf(2)
	if err := v.Unlock(other); !errors.Is(err, walletfile.ErrPassphrase) || !v.Locked() {
		t.Errorf("another master key: %v", err)
	}
	if err := v.Unlock(master); err != nil || !signs(v, one) {
		t.Errorf("unlocked: %v", err)
	}
	if changes := log.Take(); len(changes) != 1 {
		t.Errorf("%d records get a tag, want 1", len(changes))
	}
	if err := v.Unlock(master); err != nil || len(log.Take()) > 0 {
		t.Errorf("a tag is written again: %v", err)
	}
}

// Encrypting a vault encrypts its keys of P2MR too.
func TestEncryptPQC(t *testing.T) {
	keys := pqcKeys()
	one := slhdsa.PublicKey(keys[0].Public)
	var log records.Log
	v := vault.New(&log)
	v.AddPQC(chainhash.Hash{1}, &keys[0])
	if _, _, err := v.ReserveSignatures(map[slhdsa.PublicKey]uint32{one: 7}); err != nil {
		t.Fatal(err)
	}
	log.Take()
	record, master := masterOf(1)
	v.Encrypt(record, master)
	for _, c := range log.Take() {
		if bytes.Contains(c.Value, keys[0].Secret[:32]) {
			t.Error("an encrypted wallet writes a private key")
		}
	}
	v.Lock()
	if n, ok := v.Signatures(chainhash.Hash{1}, one); n != 7 || !ok || signs(v, one) {
		t.Errorf("%d signatures, or a locked key", n)
	}
	if err := v.Unlock(master); err != nil || !signs(v, one) || v.Validation().Valid != 0 {
		t.Errorf("unlocked: %v", err)
	}
}
