package walletdb_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/store/walletdb"
)

// qbitBackups are wallets of qbitd 1.0.0.
const qbitBackups = "../../internal/e2e/testdata/golden/qbit/backups"

// qbitWallets are the records of those wallets by their names, and how to read
// them.
func qbitWallets(tb testing.TB) (all map[string][]walletfile.Record, load walletfile.LoadOptions) {
	tb.Helper()
	net, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		tb.Fatal(err)
	}
	load.Network, load.MerkleRoots = net.Descriptors(), true
	all = make(map[string][]walletfile.Record)
	for _, name := range []string{"signer", "default", "default-early", "encrypted", "watch", "blank"} {
		content, err := os.ReadFile(filepath.Join(qbitBackups, name+".dat"))
		if err != nil {
			tb.Fatal(err)
		}
		path := filepath.Join(tb.TempDir(), walletdb.FileName)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			tb.Fatal(err)
		}
		opts := walletdb.Options{Magic: net.Magic}
		if _, severity, err := verify(path, opts, load); err != nil || severity != walletfile.OK {
			tb.Errorf("%s: severity %d: %v", name, severity, err)
		}
		db, err := walletdb.Open(path, opts)
		if err != nil {
			tb.Fatal(err)
		}
		all[name] = records(tb, db)
		if err := db.Close(); err != nil {
			tb.Fatal(err)
		}
	}
	return all, load
}

// TestQbitEncode reads every record of qbitd's files and writes it again.
func TestQbitEncode(t *testing.T) {
	all, _ := qbitWallets(t)
	for name, list := range all {
		for _, r := range list {
			entry, err := walletfile.Parse(r)
			if err != nil {
				t.Errorf("%s: %x: %v", name, r.Key, err)
				continue
			}
			if again := walletfile.RecordOf(entry); !bytes.Equal(again.Key, r.Key) ||
				!bytes.Equal(again.Value, r.Value) {
				t.Errorf("%s: %T\ngot  %x: %x\nwant %x: %x", name, entry, again.Key, again.Value, r.Key, r.Value)
			}
		}
	}
}

// TestQbitEncryption decrypts the private keys of qbitd's wallet and encrypts
// them again: to the same bytes, and the same seal over the number of signatures.
func TestQbitEncryption(t *testing.T) {
	all, load := qbitWallets(t)
	wallet, _, err := walletfile.Load(context.Background(), slices.Values(all["encrypted"]), load)
	if err != nil {
		t.Fatal(err)
	}
	record := wallet.MasterKeys[1]
	master, err := record.Unlock(t.Context(), walletfile.NewSecret([]byte("quantum")))
	if err != nil {
		t.Fatal(err)
	}
	keys := 0
	for _, d := range wallet.Descriptors {
		if err := walletfile.CheckPQCMaster(master, d.PQCCryptedKeys); err != nil {
			t.Error(err)
		}
		if len(d.PQCCryptedKeys) > 0 &&
			walletfile.CheckPQCMaster(walletfile.NewSecret(make([]byte, 32)), d.PQCCryptedKeys) == nil {
			t.Error("another key is taken")
		}
		for _, key := range d.PQCCryptedKeys {
			keys++
			secret, err := key.Decrypt(master)
			if err != nil {
				t.Fatal(err)
			}
			plain := walletfile.PQCKey{Descriptor: d.ID, Public: key.Public, Secret: secret, Counter: &key.Counter}
			again := walletfile.EncryptPQC(master, plain)
			if got, want := again.Value(), key.Value(); !bytes.Equal(got, want) {
				t.Errorf("encrypts to %x, was %x", got, want)
			}
			forged := key
			forged.Counter++
			if _, err := forged.Decrypt(master); err == nil {
				t.Error("a forged number of signatures is taken")
			}
		}
	}
	if keys < 16 {
		t.Errorf("%d keys", keys)
	}
}

// FuzzQbitLoad loads qbitd's wallets with one record changed and one added.
func FuzzQbitLoad(f *testing.F) {
	all, load := qbitWallets(f)
	names := []string{"default-early", "encrypted", "watch"}
	for i, name := range names {
		seen := make(map[string]int)
		for place, r := range all[name] {
			kind, _ := r.Type()
			if seen[kind]++; seen[kind] <= 2 {
				f.Add(uint8(i), uint16(place), r.Value, r.Key, r.Value[:len(r.Value)/2])
			}
		}
	}
	f.Fuzz(func(t *testing.T, name uint8, place uint16, value, key, added []byte) {
		list := append(slices.Clone(all[names[int(name)%len(names)]]), walletfile.Record{Key: key, Value: added})
		list[int(place)%len(list)].Value = value
		loaded, severity, err := walletfile.Load(context.Background(), slices.Values(list), load)
		if (loaded == nil) != (err != nil) || (err != nil) != (severity > walletfile.NonCritical) {
			t.Fatalf("wallet %v, severity %d, error %v", loaded, severity, err)
		}
		if loaded != nil {
			loaded.Zero()
		}
	})
}
