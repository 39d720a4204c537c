package vault_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/wallet/vault"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// Keys and records come in the order of their ids, whatever order they were stored in.
func TestOrder(t *testing.T) {
	var log records.Log
	v := vault.New(&log)
	id := chainhash.Hash{1}
	for n := byte(15); n > 0; n-- {
		v.AddKeys(id, []descriptor.PrivateKey{keyOf(n)})
	}
	var want [][]byte
	for n := byte(1); n <= 15; n++ {
		want = append(want, keyPublic(n))
	}
	slices.SortFunc(want, func(a, b []byte) int {
		first, second := vault.KeyIDOf(a), vault.KeyIDOf(b)
		return bytes.Compare(first[:], second[:])
	})
	keys := privateKeys(v, id)
	if len(keys) != len(want) {
		t.Fatalf("%d keys, want %d", len(keys), len(want))
	}
	for i := range want {
		got := keys[i].PublicKey()
		if !bytes.Equal(got, want[i]) || keys[i].Filed != string(want[i]) || !keys[i].Compressed {
			t.Errorf("key %d: %x filed under %x, want %x", i, got, keys[i].Filed, want[i])
		}
	}
	log.Take()
	record, master := masterOf(1)
	v.Encrypt(record, master)
	changes := log.Take()[1:]
	if len(changes) != 2*len(want) {
		t.Fatalf("%d changes, want %d", len(changes), 2*len(want))
	}
	for i, public := range want {
		put, removed := changes[2*i], changes[2*i+1]
		if put.Delete || !bytes.Contains(put.Key, public) || !removed.Delete || !bytes.Contains(removed.Key, public) {
			t.Errorf("records of key %d: %x, %x, want those of %x", i, put.Key, removed.Key, public)
		}
	}
	if got := privateKeys(v, id); len(got) != len(keys) || !slices.EqualFunc(got, keys,
		func(a, b descriptor.PrivateKey) bool { return a == b }) {
		t.Error("encrypted keys are not those that were stored, in the same order")
	}
}

func TestMasterKeyOrder(t *testing.T) {
	v := vault.New(new(records.Log))
	for n := byte(20); n > 0; n-- {
		record, _ := masterOf(n)
		v.SetMasterKey(record)
	}
	for i, key := range v.MasterKeys() {
		if key.ID != uint32(i+1) {
			t.Errorf("master key %d has id %d", i, key.ID)
		}
	}
}

// Counted signatures are reported in the order of the keys, with the numbers
// before and after.
func TestSignaturesShown(t *testing.T) {
	keys := pqcKeys()
	one, two := slhdsa.PublicKey(keys[0].Public), slhdsa.PublicKey(keys[1].Public)
	if bytes.Compare(one[:], two[:]) > 0 {
		one, two = two, one
	}
	for range 10 { // the order of a map is another each time
		v := vault.New(new(records.Log))
		v.AddPQC(chainhash.Hash{1}, &keys[0])
		v.AddPQC(chainhash.Hash{1}, &keys[1])
		if got := v.PQCKeys(chainhash.Hash{1}); !slices.Equal(got, []slhdsa.PublicKey{one, two}) {
			t.Errorf("keys %x", got)
		}
		for _, want := range [][]messages.PQCUse{
			{{PublicKey: one, Made: 3}, {PublicKey: two, Made: 5}},
			{{PublicKey: one, Before: 3, Made: 6}, {PublicKey: two, Before: 5, Made: 10}},
		} {
			got, reserved, err := v.ReserveSignatures(map[slhdsa.PublicKey]uint32{one: 3, two: 5})
			if err != nil || reserved == nil || !slices.Equal(got, want) {
				t.Errorf("got %v, %v, want %v", got, err, want)
			}
		}
	}
}

// Of a key that is stored twice, the record that counted more decides.
func TestSignaturesOfTwoRecords(t *testing.T) {
	key := pqcKeys()[0]
	public := slhdsa.PublicKey(key.Public)
	for _, made := range [][2]uint32{{2, 9}, {9, 2}} {
		v := vault.New(new(records.Log))
		for i, n := range made {
			d := walletfile.Descriptor{PQCKeys: []walletfile.PQCKey{{
				Public: key.Public, Secret: walletfile.NewSecret(key.Secret), Counter: &n,
			}}}
			d.ID = chainhash.Hash{byte(i)}
			v.Load(&d)
		}
		got, _, err := v.ReserveSignatures(map[slhdsa.PublicKey]uint32{public: 1})
		if err != nil || len(got) != 1 || got[0].Before != 9 || got[0].Made != 10 {
			t.Errorf("made %v: %v, %v", made, got, err)
		}
		for i := range made {
			if n, ok := v.Signatures(chainhash.Hash{byte(i)}, public); !ok || n != 10 {
				t.Errorf("made %v: %d in record %d", made, n, i)
			}
		}
	}
}

// Master keys stay as long as any key is encrypted, even where another of the same
// descriptor is not.
func TestKeepMasterKeys(t *testing.T) {
	keys := pqcKeys()
	record, master := masterOf(1)
	plain := walletfile.PQCKey{Public: keys[0].Public, Secret: walletfile.NewSecret(keys[0].Secret)}
	crypted := walletfile.EncryptPQC(master, walletfile.PQCKey{
		Public: keys[1].Public, Secret: walletfile.NewSecret(keys[1].Secret),
	})
	for range 20 { // the order of a map is another each time
		v := vault.New(new(records.Log))
		v.LoadMasterKeys(map[uint32]walletfile.MasterKey{1: record})
		v.Load(&walletfile.Descriptor{
			PQCKeys: []walletfile.PQCKey{plain}, PQCCryptedKeys: []walletfile.PQCCryptedKey{crypted},
		})
		v.DropMasterKeys()
		if !v.Encrypted() {
			t.Fatal("the master key of an encrypted key is dropped")
		}
	}
}

// A record that does not decrypt is no key, and neither is one of the wrong length.
func TestBrokenRecords(t *testing.T) {
	_, master := masterOf(1)
	_, other := masterOf(2)
	key := pqcKeys()[0]
	public := slhdsa.PublicKey(key.Public)
	v := vault.New(new(records.Log))
	record, _ := masterOf(1)
	v.Encrypt(record, master)
	id := chainhash.Hash{1}
	d := walletfile.Descriptor{
		PQCCryptedKeys: []walletfile.PQCCryptedKey{walletfile.EncryptPQC(other, walletfile.PQCKey{
			Public: key.Public, Secret: walletfile.NewSecret(key.Secret),
		})},
		CryptedKeys: []walletfile.DescriptorCryptedKey{{Public: keyPublic(1), Ciphertext: []byte{1, 2, 3}}},
	}
	d.ID = id
	v.Load(&d)
	if signs(v, public) || v.PQCSecret(public) != nil {
		t.Error("a key under another master key signs")
	}
	if v.Secret(id, vault.KeyIDOf(keyPublic(1))) != nil || len(privateKeys(v, id)) > 0 {
		t.Error("a key that does not decrypt is handed out")
	}
	if err := v.Unlock(master); !errors.Is(err, walletfile.ErrPassphrase) && !errors.Is(err, walletfile.ErrSomeKeys) {
		t.Errorf("unlocked: %v", err)
	}
	if v.Locked() {
		t.Error("a refusal locks what was unlocked")
	}
	if _, _, err := v.ReserveSignatures(map[slhdsa.PublicKey]uint32{public: 1}); err == nil {
		t.Error("signatures of a key that does not decrypt are counted")
	}
	if v.HasKeys(chainhash.Hash{9}) || v.PQCKeys(chainhash.Hash{9}) != nil || privateKeys(v, chainhash.Hash{9}) != nil {
		t.Error("a descriptor that is not there has keys")
	}
}
