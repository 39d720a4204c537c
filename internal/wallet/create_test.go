package wallet_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

func secretOf(fill byte) *walletfile.Secret {
	return walletfile.NewSecret(bytes.Repeat([]byte{fill}, 32))
}

// encryption is a master key that is under no passphrase in truth.
func encryption() *wallet.Encryption {
	return &wallet.Encryption{Record: walletfile.MasterKey{ID: 1, Iterations: 25_000}, Master: secretOf(7)}
}

// count counts the records of each type.
func count(records map[string][]byte) map[string]int {
	counts := make(map[string]int)
	for key := range records {
		name, _ := walletfile.Record{Key: []byte(key)}.Type()
		counts[name]++
	}
	return counts
}

func smallPool(t *testing.T) wallet.Params {
	t.Helper()
	p := regtest(t, "new")
	p.KeyPool = 2
	return p
}

func TestCreate(t *testing.T) {
	descriptors := map[string]int{
		"walletdescriptor": 8, "walletdescriptorkey": 8, "walletdescriptorcache": 8, "walletdescriptorlhcache": 8,
		"activeexternalspk": 4, "activeinternalspk": 4,
	}
	sealed := maps.Clone(descriptors)
	delete(sealed, "walletdescriptorkey")
	sealed["walletdescriptorckey"], sealed["mkey"] = 8, 1
	const plain = walletfile.Descriptors | walletfile.LastHardenedXpubCached
	for name, test := range map[string]struct {
		params wallet.CreateParams
		flags  walletfile.Flags
		want   map[string]int
	}{
		"default": {wallet.CreateParams{Seed: secretOf(1)}, plain, descriptors},
		"avoid reuse": {
			wallet.CreateParams{Seed: secretOf(1), AvoidReuse: true}, plain | walletfile.AvoidReuse, descriptors,
		},
		"blank":      {wallet.CreateParams{Blank: true}, plain | walletfile.Blank, nil},
		"watch-only": {wallet.CreateParams{DisablePrivateKeys: true}, plain | walletfile.DisablePrivateKeys, nil},
		"encrypted":  {wallet.CreateParams{Seed: secretOf(1), Encryption: encryption()}, plain, sealed},
		"encrypted and blank": {
			wallet.CreateParams{Blank: true, Encryption: encryption()},
			plain | walletfile.Blank,
			map[string]int{"mkey": 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.params.Params, test.params.Now = smallPool(t), 1_700_000_000
			w, err := wallet.Create(t.Context(), test.params)
			if err != nil {
				t.Fatal(err)
			}
			if w.Flags() != test.flags {
				t.Errorf("flags %x, want %x", w.Flags(), test.flags)
			}
			if w.Vault().Locked() != (test.params.Encryption != nil) {
				t.Errorf("locked: %v", w.Vault().Locked())
			}
			want := map[string]int{"flags": 1, "version": 1}
			maps.Copy(want, test.want)
			records := fileRecords(w)
			if got := count(records); !maps.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
			again := reopen(t, records, test.params.Params)
			got, _ := again.Keys().ListDescriptors(false)
			if was, _ := w.Keys().ListDescriptors(false); !reflect.DeepEqual(got, was) {
				t.Errorf("after opening again: got %v, want %v", got, was)
			}
		})
	}
}

func reopen(t *testing.T, records map[string][]byte, p wallet.Params) *wallet.Wallet {
	t.Helper()
	var list []walletfile.Record
	for key, value := range records {
		list = append(list, walletfile.Record{Key: []byte(key), Value: value})
	}
	return testOpen(t, list, p, newTestChain())
}

// TestEncrypt encrypts a wallet: its keys are nowhere in the clear afterwards,
// and it gives addresses of a new seed, as far as they are derived while locked.
func TestEncrypt(t *testing.T) {
	w, err := wallet.Create(context.Background(), wallet.CreateParams{Params: smallPool(t), Seed: secretOf(1)})
	if err != nil {
		t.Fatal(err)
	}
	before, err := w.Keys().ListDescriptors(true)
	if err != nil {
		t.Fatal(err)
	}
	records := fileRecords(w)
	e := encryption()
	if err := w.Encrypt(*e, secretOf(2), 5); err != nil {
		t.Fatal(err)
	}
	for _, change := range w.TakeChanges() {
		if change.Delete {
			delete(records, string(change.Key))
		} else {
			records[string(change.Key)] = change.Value
		}
	}
	if got := count(records); got["walletdescriptorkey"] != 0 || got["walletdescriptorckey"] != 16 || got["walletdescriptor"] != 16 {
		t.Errorf("records: %v", got)
	}
	for _, w := range []*wallet.Wallet{w, reopen(t, records, smallPool(t))} {
		checkLocked(t, w)
		if err := w.Unlock(secretOf(8)); !errors.Is(err, walletfile.ErrPassphrase) {
			t.Errorf("unlocked with another key: %v", err)
		}
		if err := w.Unlock(e.Master); err != nil {
			t.Fatal(err)
		}
		after, err := w.Keys().ListDescriptors(true)
		if err != nil || len(after) != 16 {
			t.Fatalf("%d descriptors, %v", len(after), err)
		}
		old := slices.DeleteFunc(after, func(d messages.WalletDescriptor) bool { return d.Active })
		for i := range old {
			if !bytes.Equal(old[i].Desc, before[i].Desc) {
				t.Errorf("got %s, want %s", old[i].Desc, before[i].Desc)
			}
		}
	}
	if err := w.Encrypt(*e, secretOf(3), 5); !isFailure(err, -15) {
		t.Errorf("encrypted twice: %v", err)
	}
}

func isFailure(err error, code int) bool {
	var failure *messages.WalletError
	return errors.As(err, &failure) && failure.Code == code
}

// checkLocked asks for what a locked wallet does not do.
func checkLocked(t *testing.T, w *wallet.Wallet) {
	t.Helper()
	if !w.Vault().Locked() {
		t.Error("not locked")
	}
	for name, ask := range map[string]func() error{
		"listdescriptors": func() error { _, err := w.Keys().ListDescriptors(true); return err },
		"gethdkeys":       func() error { _, err := w.Keys().HDKeys(false, true); return err },
		"keypoolrefill":   func() error { return w.Pool().Refill(5) },
		"import":          func() error { _, err := w.Importer().Import(nil, keys.ImportTimes{}); return err },
		"create": func() error {
			_, err := w.Importer().CreateDescriptor(messages.CreateWalletDescriptor{Type: "bech32"}, 1)
			return err
		},
	} {
		if err := ask(); !isFailure(err, -13) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := w.Pool().NewAddress(messages.NewAddress{}); err != nil {
		t.Errorf("an address of the pool: %v", err)
	}
}

// TestCreateDescriptor takes back what a default wallet has and asks for it
// again, one type after the other.
func TestCreateDescriptor(t *testing.T) {
	w, err := wallet.Create(context.Background(), wallet.CreateParams{Params: smallPool(t), Seed: secretOf(1), Now: 9})
	if err != nil {
		t.Fatal(err)
	}
	hdKeys, err := w.Keys().HDKeys(true, true)
	if err != nil || len(hdKeys) != 1 {
		t.Fatalf("%d keys, %v", len(hdKeys), err)
	}
	all, _ := w.Keys().ListDescriptors(false)
	var wpkh messages.WalletDescriptor
	list, _ := w.Keys().ListDescriptors(true)
	for _, d := range list {
		if strings.HasPrefix(string(d.Desc), "wpkh") && !d.Internal {
			wpkh = d
		}
	}
	other, err := wallet.Create(context.Background(), wallet.CreateParams{Params: smallPool(t), Blank: true})
	if err != nil {
		t.Fatal(err)
	}
	item := messages.ImportItem{Desc: string(wpkh.Desc), Active: true, Range: &[2]int64{0, 1}, Timestamp: 9}
	if done, err := other.Importer().Import([]messages.ImportItem{item}, keys.ImportTimes{}); err != nil ||
		!done.Rescan {
		t.Fatal(done, err)
	}
	made := 0
	for _, kind := range []string{"legacy", "p2sh-segwit", "bech32", "bech32m"} {
		texts, err := other.Importer().CreateDescriptor(
			messages.CreateWalletDescriptor{Type: kind, HDKey: hdKeys[0].XPub}, 9,
		)
		if err != nil {
			t.Fatal(err)
		}
		made += len(texts)
	}
	if made != 7 {
		t.Errorf("%d made, want the 7 that are missing", made)
	}
	if got, _ := other.Keys().ListDescriptors(false); !reflect.DeepEqual(got, all) {
		t.Errorf("got %v, want %v", got, all)
	}
	for _, test := range []struct {
		request messages.CreateWalletDescriptor
		code    int
		text    string
	}{
		{messages.CreateWalletDescriptor{Type: "x"}, -5, "Unknown address type 'x'"},
		{messages.CreateWalletDescriptor{Type: "bech32"}, -4, "Descriptor already exists"},
		{
			messages.CreateWalletDescriptor{Type: "bech32", HDKey: "x"},
			-5,
			"Unable to parse HD key. Please provide a valid xpub",
		},
	} {
		_, err := other.Importer().CreateDescriptor(test.request, 9)
		if !isFailure(err, test.code) || !strings.HasPrefix(err.Error(), test.text) {
			t.Errorf("%+v: %v", test.request, err)
		}
	}
}
