package walletfile_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/internal/walletfile/legacytest"
)

// FuzzParse reads arbitrary records. A record that was read is written and read
// again without a change.
func FuzzParse(f *testing.F) {
	for _, records := range coreRecords(f) {
		for i, r := range records {
			if i%10 == 0 { // many are alike
				f.Add(r.Key, r.Value)
			}
		}
	}
	for _, kind := range []string{"mixed", "encrypted"} {
		for _, r := range legacytest.Make(kind, loadOptions.Network, nil).Records {
			f.Add(r.Key, r.Value)
		}
	}
	for _, r := range handMade(f) {
		f.Add(r.Key, r.Value)
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		entry, err := walletfile.Parse(walletfile.Record{Key: key, Value: value})
		if err != nil {
			return
		}
		written := walletfile.RecordOf(entry)
		if !bytes.HasPrefix(key, written.Key) && !hasBool(entry) {
			t.Fatalf("%T: key %x written as %x", entry, key, written.Key)
		}
		again, err := walletfile.Parse(written)
		if err != nil {
			t.Fatalf("%T: %x: %x: %v", entry, written.Key, written.Value, err)
		}
		if second := walletfile.RecordOf(again); !bytes.Equal(second.Key, written.Key) ||
			!bytes.Equal(second.Value, written.Value) {
			t.Fatalf("%T: %x: %x written as %x: %x", entry, written.Key, written.Value, second.Key, second.Value)
		}
	})
}

// hasBool reports whether the key of an entry has a truth value, for which
// there is more than one byte.
func hasBool(entry walletfile.Entry) bool {
	switch entry.(type) {
	case walletfile.PubKeyEntry, walletfile.PubKeyCursor:
		return true
	}
	return false
}

// smallWallet is a wallet of Core's with one descriptor and one transaction.
func smallWallet(tb testing.TB) []walletfile.Record {
	tb.Helper()
	var id []byte
	seen := make(map[string]bool)
	return slices.DeleteFunc(coreRecords(tb)[wholeWallet], func(r walletfile.Record) bool {
		name, _ := r.Type()
		switch name {
		case "walletdescriptor":
			if id == nil {
				id = r.Key[len(r.Key)-32:]
			}
		case "tx", "name", "purpose":
			defer func() { seen[name] = true }()
			return seen[name]
		case "version", "flags", "orderposnext", "bestblock", "bestblock_nomerkle":
			return false
		}
		return !bytes.Contains(r.Key, id) && !bytes.Equal(r.Value, id)
	})
}

// FuzzLoad loads a wallet with one of its records changed and two records added.
func FuzzLoad(f *testing.F) {
	wallet := smallWallet(f)
	if small, severity, err := load(wallet); severity != walletfile.OK || len(small.Active) != 1 ||
		len(small.Txs) != 1 {
		f.Fatalf("severity %d: %v", severity, err)
	}
	for i, r := range wallet {
		f.Add(uint8(i), r.Value, r.Key, r.Value[:len(r.Value)/2], wallet[0].Key, wallet[0].Value)
	}
	f.Fuzz(func(t *testing.T, place uint8, value, key1, value1, key2, value2 []byte) {
		records := append(slices.Clone(wallet),
			walletfile.Record{Key: key1, Value: value1}, walletfile.Record{Key: key2, Value: value2})
		records[int(place)%len(wallet)].Value = value
		loaded, severity, err := load(records)
		if (loaded == nil) != (err != nil) || (err != nil) != (severity > walletfile.NonCritical) {
			t.Fatalf("wallet %v, severity %d, error %v", loaded, severity, err)
		}
		if loaded == nil {
			return
		}
		for _, d := range loaded.Descriptors {
			if d.RangeStart < d.RangeEnd {
				if _, _, err := d.DerivationText(loadOptions.Network, uint32(d.RangeStart)); err != nil {
					t.Fatalf("descriptor %v cannot be derived: %v", d.ID, err)
				}
			}
		}
	})
}
