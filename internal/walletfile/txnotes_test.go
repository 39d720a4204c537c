package walletfile_test

import (
	"bytes"
	"maps"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/walletfile"
)

// The values that Core does not know are in a record of their own, whose type Core does not know either.
func TestTxNotes(t *testing.T) {
	records := coreRecords(t)[wholeWallet]
	i := slices.IndexFunc(records, hasType("tx"))
	entry, err := walletfile.Parse(records[i])
	if err != nil {
		t.Fatal(err)
	}
	tx := entry.(*walletfile.Tx)
	if _, any := tx.Notes(); any || tx.NotesInside() {
		t.Fatal("Core's transaction has notes of this node")
	}
	want := map[string]string{"comment": "c", "to": "t", "idempotency_key": "k", "idempotency_arguments": "a"}
	tx.Values = maps.Clone(want)
	plain := walletfile.RecordOf(tx)
	if bytes.Contains(plain.Value, []byte("idempotency")) {
		t.Fatal("Core 32 would not read the transaction")
	}
	notes, any := tx.Notes()
	if !any {
		t.Fatal("no notes")
	}
	records[i] = plain
	content, _, err := load(append(records, walletfile.RecordOf(notes)))
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range content.Txs {
		if got.ID == tx.ID && (!maps.Equal(got.Values, want) || got.NotesInside()) {
			t.Errorf("got %v, want %v", got.Values, want)
		}
	}
}

// Earlier versions had these values in the record of the transaction.
func TestTxNotesInside(t *testing.T) {
	records := coreRecords(t)[wholeWallet]
	i := slices.IndexFunc(records, hasType("tx"))
	const known, old = "\x0bfromaccount\x00", "\x0fidempotency_key\x01k"
	record := records[i]
	record.Value = bytes.Replace(record.Value, []byte(known), []byte(known+old), 1)
	at := bytes.Index(record.Value, []byte(known)) - 1 // of how many values there are
	record.Value[at]++
	entry, err := walletfile.Parse(record)
	if err != nil {
		t.Fatal(err)
	}
	tx := entry.(*walletfile.Tx)
	if tx.Values["idempotency_key"] != "k" || !tx.NotesInside() {
		t.Errorf("got %v", tx.Values)
	}
}
