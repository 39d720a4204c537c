package wallet_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// importOf returns the import that makes a descriptor of a file.
func importOf(
	t *testing.T, content *walletfile.Wallet, d *walletfile.Descriptor, net *descriptor.Network,
) messages.ImportItem {
	t.Helper()
	var keys []descriptor.PrivateKey
	for _, key := range d.Keys {
		scalar := [32]byte(key.Secret.Bytes())
		keys = append(keys, descriptor.PrivateKey{Scalar: scalar, Compressed: key.Public.Compressed()})
	}
	branches, err := descriptor.Parse(d.Text, net, descriptor.Options{PrivateKeys: keys})
	if err != nil {
		t.Fatal(err)
	}
	private, _ := branches[0].PrivateText()
	text := string(private)
	item := messages.ImportItem{Desc: text, Timestamp: int64(d.CreationTime)}
	if branches[0].IsRanged() {
		next := int64(d.NextIndex)
		item.Range, item.NextIndex = &[2]int64{int64(d.RangeStart), int64(d.RangeEnd) - 1}, &next
	}
	for slot, id := range content.Active {
		if id == d.ID {
			item.Active, item.Internal = true, &slot.Internal
		}
	}
	return item
}

// fileRecords returns what a wallet that was made here has to write.
func fileRecords(w *wallet.Wallet) map[string][]byte {
	records := make(map[string][]byte)
	for _, change := range w.TakeChanges() {
		if change.Delete {
			delete(records, string(change.Key))
		} else {
			records[string(change.Key)] = change.Value
		}
	}
	return records
}

// ofDescriptors reports whether a record is of a descriptor, or says which one
// is active.
func ofDescriptors(key []byte) bool {
	name, _ := walletfile.Record{Key: key}.Type()
	return strings.HasPrefix(name, "walletdescriptor") || strings.HasPrefix(name, "active")
}

// TestRecordsOfImports imports the descriptors of Core's wallets into new ones:
// the records must be those of Core, byte for byte.
func TestRecordsOfImports(t *testing.T) {
	r := readRecording(t)
	for _, name := range []string{"default", "imported", "one-key", "next-index", "watch-misc", "base"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := regtest(t, name)
			options := p.LoadOptions()
			content, _, err := walletfile.Load(context.Background(), slices.Values(r.records(name)), options)
			if err != nil {
				t.Fatal(err)
			}
			w, err := wallet.Create(context.Background(), wallet.CreateParams{
				Params: p, Blank: true, DisablePrivateKeys: content.Flags.Has(walletfile.DisablePrivateKeys),
			})
			if err != nil {
				t.Fatal(err)
			}
			var items []messages.ImportItem
			for _, d := range content.Descriptors {
				items = append(items, importOf(t, content, d, p.Network))
			}
			done, err := w.Importer().Import(items, keys.ImportTimes{})
			if err != nil {
				t.Fatal(err)
			}
			for i, result := range done.Results {
				if result.Err != nil {
					t.Errorf("%s: %v", items[i].Desc, result.Err)
				}
			}
			compareRecords(t, r.records(name), fileRecords(w))
		})
	}
}

// compareRecords compares what belongs to descriptors.
func compareRecords(t *testing.T, want []walletfile.Record, got map[string][]byte) {
	t.Helper()
	for _, record := range want {
		value, ok := got[string(record.Key)]
		if ofDescriptors(record.Key) && !bytes.Equal(unused(record.Key, value), unused(record.Key, record.Value)) {
			t.Errorf("record %q: got %x (%v), want %x", record.Key, value, ok, record.Value)
		}
		delete(got, string(record.Key))
	}
	for key := range got {
		if ofDescriptors([]byte(key)) {
			t.Errorf("record %q is not in the backup", key)
		}
	}
}

// unused returns a record without the next index where there is only one, which
// tells whether it was paid to.
func unused(key, value []byte) []byte {
	entry, err := walletfile.Parse(walletfile.Record{Key: key, Value: value})
	if d, ok := entry.(walletfile.DescriptorRecord); err == nil && ok && d.RangeEnd == 1 {
		d.NextIndex = 0
		return d.Value()
	}
	return value
}

// TestReopen writes what restored wallets changed into their records, opens them
// again and compares what they tell.
func TestReopen(t *testing.T) {
	r := readRecording(t)
	for _, name := range []string{"imported", "base", "gap-far", "gap-found", "reuse", "many", "reorged", "labels"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := regtest(t, name)
			w := testOpen(t, r.records(name), p, recordedChain())
			attach(w, recordedChain(), false)
			again := testOpen(t, apply(r.records(name), w.TakeChanges()), p, recordedChain())
			again.Txs().SetTip(recordedChain().tip())
			compareWallets(t, again, w)
			if changes := again.TakeChanges(); len(changes) > 0 {
				t.Errorf("%d changes after opening again, the first of %q", len(changes), changes[0].Key)
			}
		})
	}
}

// apply puts changes into records.
func apply(records []walletfile.Record, changes []records.Change) []walletfile.Record {
	records = slices.Clone(records)
	for _, change := range changes {
		records = slices.DeleteFunc(records, func(r walletfile.Record) bool { return bytes.Equal(r.Key, change.Key) })
		if !change.Delete {
			records = append(records, walletfile.Record{Key: change.Key, Value: change.Value})
		}
	}
	return records
}

// compareWallets compares what two wallets tell.
func compareWallets(t *testing.T, got, want *wallet.Wallet) {
	t.Helper()
	for name, ask := range map[string]func(w *wallet.Wallet) any{
		"info":     func(w *wallet.Wallet) any { return w.Info() },
		"balances": func(w *wallet.Wallet) any { return w.Reports().Balances(messages.GetBalances{AvoidReuse: true}) },
		"descriptors": func(w *wallet.Wallet) any {
			list, err := w.Keys().ListDescriptors(false)
			return []any{list, err}
		},
		"received": func(w *wallet.Wallet) any {
			return w.Reports().ListReceived(messages.ListReceived{
				IncludeEmpty: true, IncludeImmature: true, MinConf: -9999,
			})
		},
		"history": func(w *wallet.Wallet) any {
			return w.Reports().ListTransactions(messages.ListTransactions{Count: 9999})
		},
		"unspent": func(w *wallet.Wallet) any {
			return w.Reports().ListUnspent(messages.ListUnspent{
				MaxConf: 9999, IncludeUnsafe: true, IncludeImmature: true,
			})
		},
	} {
		compare(t, name, decode(t, asJSON(t, ask(got))), decode(t, asJSON(t, ask(want))))
	}
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
