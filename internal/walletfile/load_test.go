package walletfile_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/walletfile"
)

func load(records []walletfile.Record) (*walletfile.Wallet, walletfile.Severity, error) {
	return walletfile.Load(context.Background(), slices.Values(records), loadOptions)
}

// edit changes the records of a wallet.
type edit func(records []walletfile.Record) []walletfile.Record

func hasType(name string) func(walletfile.Record) bool {
	return func(r walletfile.Record) bool { got, ok := r.Type(); return ok && got == name }
}

// remove takes out all records of a type.
func remove(name string) edit {
	return func(records []walletfile.Record) []walletfile.Record {
		return slices.DeleteFunc(records, hasType(name))
	}
}

// add puts a record in.
func add(r walletfile.Record) edit {
	return func(records []walletfile.Record) []walletfile.Record { return append(records, r) }
}

// change alters the value of the first record of a type.
func change(name string, value func([]byte) []byte) edit {
	return func(records []walletfile.Record) []walletfile.Record {
		i := slices.IndexFunc(records, hasType(name))
		records[i].Value = value(slices.Clone(records[i].Value))
		return records
	}
}

// cut takes the last byte away.
func cut(b []byte) []byte { return b[:len(b)-1] }

func constant(b []byte) func([]byte) []byte { return func([]byte) []byte { return b } }

// both makes two edits.
func both(first, second edit) edit {
	return func(records []walletfile.Record) []walletfile.Record { return second(first(records)) }
}

// reverse makes the last record the first.
func reverse(records []walletfile.Record) []walletfile.Record {
	slices.Reverse(records)
	return records
}

// descriptorWith puts a descriptor record with the given range in, filed under
// its right id.
func descriptorWith(tb testing.TB, text string, start, end int32) edit {
	tb.Helper()
	parsed := parse(tb, text)
	return add(walletfile.RecordOf(walletfile.DescriptorRecord{
		ID: walletfile.DescriptorID(parsed), Text: parsed.String(), RangeStart: start, RangeEnd: end,
	}))
}

// underAnotherID returns the record of a descriptor under an id that no version
// of Core computes.
func underAnotherID(tb testing.TB, text string) walletfile.Record {
	tb.Helper()
	return walletfile.RecordOf(walletfile.DescriptorRecord{Text: parse(tb, text).String(), RangeEnd: 1})
}

func TestLoadSeverity(t *testing.T) {
	id := strings.Repeat("11", 32)
	const watched = "raw(51)"
	tests := []struct {
		name string
		edit edit
		want walletfile.Severity
		err  error
	}{
		{"as Core wrote it", add(walletfile.Record{Key: []byte{}, Value: []byte("x")}), walletfile.OK, nil},
		{"unknown types", add(record(t, "kit", "", "")), walletfile.OK, nil},
		{"no flags", remove("flags"), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"short flags", change("flags", cut), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"flags of a later version", change(
			"flags", constant((walletfile.Descriptors | 1<<60).Value()),
		), walletfile.TooNew, walletfile.ErrTooNew},
		{"flags of a legacy wallet", change(
			"flags", constant(walletfile.AvoidReuse.Value()),
		), walletfile.LegacyWallet, walletfile.ErrLegacyWallet},
		{"flags that are tolerated", change(
			"flags", constant((walletfile.Descriptors | 1<<20).Value()),
		), walletfile.OK, nil},
		{"short version", change("version", cut), walletfile.OK, nil},
		{"legacy record", add(record(
			t, "keymeta", "", "",
		)), walletfile.UnexpectedLegacy, walletfile.ErrUnexpectedLegacy},
		{"short descriptor", change(
			"walletdescriptor", cut,
		), walletfile.UnknownDescriptor, walletfile.ErrUnknownDescriptor},
		{"short descriptor key", add(record(t, "walletdescriptor", "11", "")), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"descriptor under another id", add(underAnotherID(t, watched)), walletfile.OK, nil},
		{
			"descriptor under another id than its keys",
			both(add(underAnotherID(t, watched)), add(record(t, "walletdescriptorkey", id, "00"))),
			walletfile.Corrupt, walletfile.ErrCorrupt,
		},
		{
			"an unknown descriptor hides what follows", both(change("walletdescriptor", cut), change("activeexternalspk", cut)),
			walletfile.UnknownDescriptor, walletfile.ErrUnknownDescriptor,
		},
		{
			"but not the key of another descriptor", both(change("walletdescriptor", cut), both(reverse, change("walletdescriptorkey", cut))),
			walletfile.Corrupt, walletfile.ErrCorrupt,
		},
		{"short private key", change("walletdescriptorkey", cut), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"cache without key", change(
			"walletdescriptorcache", constant(bytes.Repeat([]byte{0xff}, 75)),
		), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"no cache", remove("walletdescriptorcache"), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"no last hardened cache", remove("walletdescriptorlhcache"), walletfile.OK, nil},
		{"orphans are not read", add(record(t, "walletdescriptorkey", id, "00")), walletfile.OK, nil},
		{"short orphans are not read", add(record(t, "walletdescriptorckey", "11", "00")), walletfile.OK, nil},
		{"single descriptor", descriptorWith(t, watched, 0, 1), walletfile.OK, nil},
		{"single descriptor with two indices", descriptorWith(t, watched, 0, 2), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"empty range backwards", descriptorWith(t, watched, 5, -5), walletfile.OK, nil},
		{"range below zero", descriptorWith(t, watched, -1, 0), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"short label", change("name", cut), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"unknown purpose", change("purpose", constant([]byte("\x01x"))), walletfile.OK, nil},
		{"short purpose", change("purpose", cut), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"short note", add(record(t, "destdata", "0161", "00")), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"active without descriptor", add(record(t, "activeexternalspk", "03", id)), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"active of qbit", add(record(t, "activeexternalspk", "04", id)), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"short active", change("activeinternalspk", cut), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"short master key", add(record(t, "mkey", "01000000", "00")), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"short transaction", change("tx", cut), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"short locked output", add(record(t, "lockedutxo", "11", "31")), walletfile.Corrupt, walletfile.ErrCorrupt},
		{"short order", change("orderposnext", cut), walletfile.NonCritical, nil},
		{"short locator", change("bestblock_nomerkle", cut), walletfile.OK, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wallet, severity, err := load(test.edit(coreRecords(t)[wholeWallet]))
			if severity != test.want || !errors.Is(err, test.err) {
				t.Errorf("got %d, %v, want %d", severity, err, test.want)
			}
			if (wallet == nil) != (test.err != nil) {
				t.Errorf("wallet %v with error %v", wallet, err)
			}
		})
	}
}

// TestLoadTxs files a transaction under another id, and twice under one.
func TestLoadTxs(t *testing.T) {
	records := slices.DeleteFunc(
		coreRecords(t)["unconfirmed"], func(r walletfile.Record) bool { return !hasType("tx")(r) },
	)
	flags := walletfile.RecordOf(walletfile.Descriptors)
	other := walletfile.Record{Key: slices.Clone(records[0].Key), Value: records[0].Value}
	other.Key[5] ^= 1
	wallet, severity, err := load([]walletfile.Record{flags, other, records[1]})
	if severity != walletfile.NeedRescan || err != nil || len(wallet.Txs) != 1 {
		t.Errorf("another id: got %d, %v", severity, err)
	}
	longer := walletfile.Record{Key: append(slices.Clone(records[0].Key), 0), Value: records[0].Value}
	if _, severity, _ = load([]walletfile.Record{flags, records[0], longer}); severity != walletfile.Corrupt {
		t.Errorf("twice: got %d", severity)
	}
}

// TestLoadOrder loads records in any order.
func TestLoadOrder(t *testing.T) {
	records := coreRecords(t)[wholeWallet]
	want, _, err := load(records)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		random.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		got, _, err := load(records)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range got.Descriptors {
			if d.ID != want.Descriptors[i].ID || len(d.Keys) != 1 || len(d.Parents) != 1 {
				t.Errorf("descriptor %d: %v", i, d.ID)
			}
		}
		if len(got.Active) != 8 || len(got.Addresses) != len(want.Addresses) ||
			!slices.Equal(got.BestBlock, want.BestBlock) {
			t.Errorf("got %v", got)
		}
	}
}

// TestLoadKeepsLocator prefers a locator in the record that Core leaves empty.
func TestLoadKeepsLocator(t *testing.T) {
	first, second := walletfile.Locator{{1}}, walletfile.Locator{{2}}
	flags := walletfile.RecordOf(walletfile.Descriptors)
	plain := walletfile.RecordOf(walletfile.BestBlockNoMerkle(second))
	for _, test := range []struct{ merkle, want walletfile.Locator }{{first, first}, {nil, second}} {
		wallet, _, err := load([]walletfile.Record{
			flags, plain, walletfile.RecordOf(walletfile.BestBlock(test.merkle)),
		})
		if err != nil || !slices.Equal(wallet.BestBlock, test.want) {
			t.Errorf("got %v (%v), want %v", wallet.BestBlock, err, test.want)
		}
	}
}

// TestActiveForBothUses takes a descriptor that is active twice as internal.
func TestActiveForBothUses(t *testing.T) {
	parsed := parse(t, "raw(51)")
	id := walletfile.DescriptorID(parsed)
	records := []walletfile.Record{walletfile.RecordOf(walletfile.Descriptors)}
	records = descriptorWith(t, "raw(51)", 0, 1)(records)
	for _, internal := range []bool{false, true} {
		slot := walletfile.Slot{Type: walletfile.Bech32, Internal: internal}
		records = append(records, walletfile.RecordOf(walletfile.Active{Slot: slot, ID: id}))
	}
	wallet, _, err := load(records)
	if err != nil || len(wallet.Active) != 1 ||
		wallet.Active[walletfile.Slot{Type: walletfile.Bech32, Internal: true}] != id {
		t.Errorf("got %v (%v)", wallet, err)
	}
}

// A descriptor with the same key in the clear and encrypted is refused, but where Core 30 is spoken as.
func TestLoadMixedKeys(t *testing.T) {
	records := coreRecords(t)[wholeWallet]
	i := slices.IndexFunc(records, hasType("walletdescriptorkey"))
	_, rest, _ := bytes.Cut(records[i].Key, []byte("walletdescriptorkey"))
	records = append(records, walletfile.Record{
		Key: append([]byte("\x14walletdescriptorckey"), rest...), Value: records[i].Value,
	})
	for _, mixed := range []bool{false, true} {
		opts := loadOptions
		opts.Mixed = mixed
		content, severity, err := walletfile.Load(t.Context(), slices.Values(records), opts)
		switch {
		case !mixed && (severity != walletfile.Corrupt || !strings.Contains(err.Error(), "both unencrypted and")):
			t.Errorf("%d, %v", severity, err)
		case mixed && (err != nil || len(content.Descriptors[0].CryptedKeys) > 0):
			t.Errorf("mixed: %v", err)
		}
	}
}
