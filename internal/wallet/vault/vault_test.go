package vault_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/wallet/vault"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// masterOf makes a master key, and a record of it that no passphrase opens.
func masterOf(n byte) (walletfile.MasterKey, *walletfile.Secret) {
	return walletfile.MasterKey{ID: uint32(n)}, walletfile.NewSecret(bytes.Repeat([]byte{n}, 32))
}

func keyOf(n byte) descriptor.PrivateKey {
	key := descriptor.PrivateKey{Compressed: true}
	key.Scalar[31] = n
	return key
}

// reads reports whether the vault hands out a key, as it was stored.
func reads(v *vault.Vault, id chainhash.Hash, n byte) bool {
	key := keyOf(n)
	secret := v.Secret(id, vault.KeyIDOf(keyPublic(n)))
	defer secret.Zero()
	return bytes.Equal(secret.Bytes(), key.Scalar[:])
}

// holdsSecret reports whether a record shows a private key.
func holdsSecret(changes []records.Change, n byte) bool {
	key := keyOf(n)
	return slices.ContainsFunc(changes, func(c records.Change) bool { return bytes.Contains(c.Value, key.Scalar[:]) })
}

// TestLife takes a vault through its whole life.
func TestLife(t *testing.T) {
	var log records.Log
	v := vault.New(&log)
	one, two := chainhash.Hash{1}, chainhash.Hash{2}
	v.AddKeys(one, []descriptor.PrivateKey{keyOf(5), keyOf(6)})
	v.AddKeys(one, []descriptor.PrivateKey{keyOf(5)})
	if changes := log.Take(); len(changes) != 2 || !holdsSecret(changes, 5) {
		t.Errorf("%d records of two keys", len(changes))
	}
	if v.Encrypted() || v.Locked() || !reads(v, one, 5) || !reads(v, one, 6) || reads(v, two, 5) || reads(v, one, 7) {
		t.Error("a new vault does not hand out its keys alone")
	}

	record, master := masterOf(9)
	v.Encrypt(record, master)
	changes := log.Take()
	if len(changes) != 5 || holdsSecret(changes, 5) || holdsSecret(changes, 6) { // a master key, two new, two deleted
		t.Errorf("%d records when it is encrypted", len(changes))
	}
	v.AddKeys(two, []descriptor.PrivateKey{keyOf(8)})
	if changes := log.Take(); len(changes) != 1 || holdsSecret(changes, 8) {
		t.Errorf("%d records of a key in an encrypted wallet", len(changes))
	}
	if !v.Encrypted() || v.Locked() || !reads(v, one, 5) || !reads(v, two, 8) || len(v.MasterKeys()) != 1 {
		t.Error("an encrypted vault is not unlocked at first")
	}

	v.Lock()
	checkLocked(t, v, one)
	_, other := masterOf(10)
	if err := v.Unlock(other); !errors.Is(err, walletfile.ErrPassphrase) {
		t.Errorf("another master key: %v", err)
	}
	checkLocked(t, v, one)
	if err := v.Unlock(master); err != nil {
		t.Fatal(err)
	}
	master.Zero()
	if v.Locked() || !reads(v, one, 6) || v.NeedUnlocked() != nil {
		t.Error("an unlocked vault keeps its keys")
	}
	v.DropMasterKeys()
	if !v.Encrypted() {
		t.Error("a master key is dropped that keys are encrypted under")
	}
	v.Close()
	if reads(v, one, 5) {
		t.Error("a closed vault hands out a key")
	}
}

func checkLocked(t *testing.T, v *vault.Vault, id chainhash.Hash) {
	t.Helper()
	if !v.Locked() || reads(v, id, 5) || len(privateKeys(v, id)) > 0 || !v.HasKeys(id) ||
		!v.Has(id, vault.KeyIDOf(keyPublic(5))) {
		t.Error("a locked vault says no to what it has, or hands it out")
	}
	var refused *messages.WalletError
	if err := v.NeedUnlocked(); !errors.As(err, &refused) || refused.Code != codes.UnlockNeeded {
		t.Errorf("a locked vault: %v", err)
	}
}

// publics are the public keys of the first private ones.
var publics = sync.OnceValue(func() (publics [16][]byte) {
	for n := range publics[1:] {
		key := keyOf(byte(n + 1))
		publics[n+1] = key.PublicKey()
	}
	return publics
})

// privateKeys are copies of the private keys of a descriptor.
func privateKeys(v *vault.Vault, id chainhash.Hash) (keys []descriptor.PrivateKey) {
	v.WithPrivateKeys(id, func(lent []descriptor.PrivateKey) { keys = slices.Clone(lent) })
	return keys
}

func keyPublic(n byte) []byte { return publics()[n] }

// Secrets that are handed out are the caller's, and secrets that are taken stay
// the caller's too.
func TestCopies(t *testing.T) {
	v := vault.New(new(records.Log))
	id := chainhash.Hash{1}
	key := keyOf(5)
	secret := walletfile.NewSecret(key.Scalar[:])
	v.AddKey(id, key.PublicKey(), secret)
	secret.Zero()
	v.Secret(id, vault.KeyIDOf(key.PublicKey())).Zero()
	v.WithPrivateKeys(id, func([]descriptor.PrivateKey) {})
	if !reads(v, id, 5) {
		t.Error("a wiped copy wipes the key")
	}
}

// Master keys that nothing is encrypted under are dropped.
func TestDropMasterKeys(t *testing.T) {
	var log records.Log
	v := vault.New(&log)
	one, _ := masterOf(1)
	two, _ := masterOf(2)
	v.LoadMasterKeys(map[uint32]walletfile.MasterKey{1: one, 2: two})
	if keys := v.MasterKeys(); len(keys) != 2 || keys[0].ID != 1 {
		t.Errorf("master keys %v", keys)
	}
	dropped, again := v.DropMasterKeys(), v.DropMasterKeys()
	if changes := log.Take(); !dropped || again || v.Encrypted() || len(changes) != 2 || !changes[0].Delete {
		t.Errorf("%d changes", len(changes))
	}
}

// A wallet with some keys under another master key is not unlocked, nor is one
// with keys that are not encrypted.
func TestForeignKeys(t *testing.T) {
	_, master := masterOf(1)
	_, other := masterOf(2)
	crypted := func(n byte, under *walletfile.Secret) walletfile.DescriptorCryptedKey {
		key := keyOf(n)
		secret := walletfile.NewSecret(key.Scalar[:])
		public := walletfile.PublicKey(key.PublicKey())
		return walletfile.DescriptorCryptedKey{Public: public, Ciphertext: walletfile.EncryptKey(under, public, secret)}
	}
	plain := keyOf(3)
	for name, test := range map[string]struct {
		d    walletfile.Descriptor
		want []error
	}{
		"right": {
			walletfile.Descriptor{CryptedKeys: []walletfile.DescriptorCryptedKey{crypted(1, master)}}, []error{nil},
		},
		"wrong": {
			walletfile.Descriptor{CryptedKeys: []walletfile.DescriptorCryptedKey{crypted(1, other)}},
			[]error{walletfile.ErrPassphrase},
		},
		"some": { // by which comes first
			walletfile.Descriptor{
				CryptedKeys: []walletfile.DescriptorCryptedKey{crypted(1, master), crypted(2, other)},
			},
			[]error{walletfile.ErrSomeKeys, walletfile.ErrPassphrase},
		},
		"plain": {
			walletfile.Descriptor{Keys: []walletfile.DescriptorKey{{
				Public: plain.PublicKey(), Secret: walletfile.NewSecret(plain.Scalar[:]),
			}}},
			[]error{walletfile.ErrPassphrase},
		},
	} {
		v := vault.New(new(records.Log))
		record, _ := masterOf(1)
		v.LoadMasterKeys(map[uint32]walletfile.MasterKey{1: record})
		v.Load(&test.d)
		err := v.Unlock(master)
		if !slices.ContainsFunc(test.want, func(want error) bool { return errors.Is(err, want) }) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
		if v.Locked() != (err != nil) {
			t.Errorf("%s: locked after %v: %v", name, err, v.Locked())
		}
	}
}

// TestModel takes random steps, and compares the keys that can be had with the
// stored keys.
func TestModel(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 3))
		var log records.Log
		v := vault.New(&log)
		record, master := masterOf(1)
		stored := make(map[chainhash.Hash]map[byte]bool)
		encrypted, locked := false, false
		for range 25 {
			id, n := chainhash.Hash{byte(random.IntN(3))}, byte(1+random.IntN(6))
			switch what := random.IntN(6); {
			case what < 3 && !locked:
				v.AddKeys(id, []descriptor.PrivateKey{keyOf(n)})
				if stored[id] == nil {
					stored[id] = make(map[byte]bool)
				}
				stored[id][n] = true
			case what == 3 && !encrypted:
				log.Take()
				v.Encrypt(record, master)
				encrypted = true
			case what == 4 && encrypted:
				v.Lock()
				locked = true
			case what == 5 && encrypted:
				if err := v.Unlock(master); err != nil {
					t.Fatal(err)
				}
				locked = false
			}
			for at := range byte(3) {
				checkStored(t, v, chainhash.Hash{at}, stored[chainhash.Hash{at}], locked)
			}
			for n := range byte(6) {
				if changes := log.Take(); encrypted && holdsSecret(changes, n+1) {
					t.Errorf("seed %d: an encrypted wallet writes a private key", seed)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func checkStored(t *testing.T, v *vault.Vault, id chainhash.Hash, stored map[byte]bool, locked bool) {
	t.Helper()
	if v.HasKeys(id) != (len(stored) > 0) {
		t.Errorf("has keys: %v, want %d", v.HasKeys(id), len(stored))
	}
	got := privateKeys(v, id)
	want := len(stored)
	if locked {
		want = 0
	}
	if len(got) != want {
		t.Errorf("%d private keys, want %d", len(got), want)
	}
	for n := byte(1); n <= 6; n++ {
		if has := v.Has(id, vault.KeyIDOf(keyPublic(n))); has != stored[n] {
			t.Errorf("key %d is there: %v, want %v", n, has, stored[n])
		}
		if can := reads(v, id, n); can != (stored[n] && !locked) {
			t.Errorf("key %d can be had: %v, want %v", n, can, stored[n] && !locked)
		}
	}
}
