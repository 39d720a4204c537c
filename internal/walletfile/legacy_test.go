package walletfile_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/internal/walletfile/legacytest"
)

// Each record of a legacy wallet is read, and written as it was.
func TestLegacyRecords(t *testing.T) {
	for _, kind := range legacytest.Kinds {
		for _, r := range legacytest.Make(kind, loadOptions.Network, nil).Records {
			entry, err := walletfile.Parse(r)
			if err != nil {
				t.Fatalf("%s: %q: %v", kind, r.Key, err)
			}
			if got := walletfile.RecordOf(entry); !bytes.Equal(got.Key, r.Key) || !bytes.Equal(got.Value, r.Value) {
				t.Errorf("%s: %T written as %x %x, was %x %x", kind, entry, got.Key, got.Value, r.Key, r.Value)
			}
		}
	}
}

// legacy returns the records of a kind with one of them changed.
func legacy(kind, name string, change func(value []byte) []byte) []walletfile.Record {
	records := legacytest.Make(kind, loadOptions.Network, nil).Records
	for i, r := range records {
		if own, _ := r.Type(); own == name {
			records[i].Value = change(bytes.Clone(r.Value))
			break
		}
	}
	return records
}

func TestLoadLegacy(t *testing.T) {
	cut := func(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:len(b)-n] } }
	flip := func(at int) func([]byte) []byte {
		return func(b []byte) []byte {
			b[(at+len(b))%len(b)] ^= 1
			return b
		}
	}
	with := func(kind string, entries ...walletfile.Entry) []walletfile.Record {
		w := legacytest.Make(kind, loadOptions.Network, nil)
		for _, e := range entries {
			w.Put(e)
		}
		return w.Records
	}
	tests := []struct {
		name     string
		records  []walletfile.Record
		severity walletfile.Severity
		err      error
	}{
		{"as it was written", with("mixed"), walletfile.OK, nil},
		{"key without checksum", legacy("single", "key", cut(32)), walletfile.OK, nil},
		{"key with a wrong checksum", legacy("single", "key", flip(-1)), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"another key without checksum", legacy("single", "key", func(b []byte) []byte {
			return flip(20)(cut(32)(b))
		}), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"no key at all", legacy("single", "key", cut(100)), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"encrypted key without checksum", legacy("encrypted", "ckey", cut(32)), walletfile.OK, nil},
		{
			"encrypted key with a wrong checksum", legacy("encrypted", "ckey", flip(-1)), walletfile.Corrupt,
			walletfile.ErrCorrupt,
		},
		{"default key", legacy("unsplit", "defaultkey", flip(1)), walletfile.OK, nil},
		{"no default key", legacy("unsplit", "defaultkey", cut(1)), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"short chain", legacy("hd", "hdchain", cut(1)), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"short metadata", legacy("hd", "keymeta", cut(1)), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"wkey", append(with("hd"), record(t, "wkey", "00", "00")), walletfile.LoadFail, walletfile.ErrLoadFail},
		{"flags", with("hd", walletfile.Flags(1<<40)), walletfile.TooNew, walletfile.ErrTooNew},
		{
			"of a descriptor wallet", with("hd", walletfile.Descriptors), walletfile.UnexpectedLegacy,
			walletfile.ErrUnexpectedLegacy,
		},
		{"descriptors, and nothing old", with("blank", walletfile.Descriptors), walletfile.OK, nil},
		{
			"keys in the clear in an encrypted wallet", with("hd", walletfile.MasterKey{ID: 1}), walletfile.Corrupt,
			walletfile.ErrCorrupt,
		},
		{"odd path", with("hd", walletfile.KeyMeta{
			Public:      append([]byte{2}, make([]byte, 32)...),
			KeyMetadata: walletfile.KeyMetadata{Version: 10, Path: "m/1'/0'/0'", Seed: walletfile.KeyID{1}},
		}), walletfile.NonCritical, nil},
	}
	for _, test := range tests {
		old, severity, err := walletfile.LoadLegacy(slices.Values(test.records), loadOptions)
		if severity != test.severity || !errors.Is(err, test.err) || (old == nil) != (test.err != nil) {
			t.Errorf("%s: got %v, %v", test.name, severity, err)
		}
	}
}

// The content of a wallet of each kind in memory.
func TestLegacyContent(t *testing.T) {
	load := func(kind string) *walletfile.LegacyContent {
		old, _, err := walletfile.LoadLegacy(
			slices.Values(legacytest.Make(kind, loadOptions.Network, walletfile.Locator{{1}}).Records), loadOptions)
		if err != nil {
			t.Fatal(err)
		}
		return old
	}
	hd := load("hd")
	if hd.Chain.External != 6 || hd.Chain.Internal != 4 || len(hd.Keys) != 11 || len(hd.Inactive) != 0 ||
		!hd.HasBestBlock {
		t.Errorf("hd: %+v, %d keys, %d chains before", hd.Chain, len(hd.Keys), len(hd.Inactive))
	}
	rotated := load("rotated")
	if len(rotated.Inactive) != 1 || rotated.Inactive[0].External != 3 || rotated.Inactive[0].Internal != 2 {
		t.Errorf("rotated: %+v", rotated.Inactive)
	}
	unsplit := load("unsplit")
	if unsplit.Chain.Split() || unsplit.Chain.External != 5 {
		t.Errorf("unsplit: %+v", unsplit.Chain)
	}
	encrypted := load("encrypted")
	if !encrypted.Encrypted() || len(encrypted.Keys) != 0 || len(encrypted.CryptedKeys) != 8 {
		t.Errorf("encrypted: %d and %d keys", len(encrypted.Keys), len(encrypted.CryptedKeys))
	}
	if blank := load("blank"); blank.AnyKeys {
		t.Error("blank: has keys")
	}
	mixed := load("mixed")
	large := func(s []byte) bool { return len(s) > 520 }
	if !mixed.AnyKeys || len(mixed.Watched) != 10 || slices.ContainsFunc(mixed.Scripts, large) {
		t.Errorf("mixed: %d watched", len(mixed.Watched))
	}
	for _, r := range mixed.Rest {
		if name, _ := r.Type(); strings.HasPrefix(name, "watch") || name == "key" {
			t.Errorf("mixed: %s is kept", name)
		}
	}
	if _, _, err := walletfile.LoadLegacy(slices.Values([]walletfile.Record{}), loadOptions); err != nil {
		t.Errorf("no records: %v", err)
	}
}
