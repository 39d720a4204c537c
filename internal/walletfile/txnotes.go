package walletfile

import (
	"maps"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// ownPrefix begins the names among the values of a transaction that Core does not know.
const ownPrefix = "idempotency_"

// txNotesType is the type of the records of [TxNotes].
const txNotesType = "trawltxnotes"

// TxNotes is the record of a transaction's values that Core does not know. Core 32 reads no transaction with unknown
// values, and leaves records alone whose type it does not know.
type TxNotes struct {
	ID     chainhash.Hash
	Values []Pair
}

// Key returns the key of the record.
func (n TxNotes) Key() []byte { return append(KeyPrefix(txNotesType), n.ID[:]...) }

// Value returns the value of the record.
func (n TxNotes) Value() []byte { return appendPairs(nil, n.Values) }

func parseTxNotes(key, value *cursor) Entry {
	return TxNotes{ID: key.hash(), Values: value.pairs()}
}

// Notes returns the record of the values that Core does not know. It is false where there are none.
func (t *Tx) Notes() (TxNotes, bool) {
	notes := TxNotes{ID: t.ID}
	for _, name := range slices.Sorted(maps.Keys(t.Values)) {
		if strings.HasPrefix(name, ownPrefix) {
			notes.Values = append(notes.Values, Pair{Name: name, Text: t.Values[name]})
		}
	}
	return notes, len(notes.Values) > 0
}

// NotesInside reports whether the record of the transaction itself had values that Core does not know, as those of
// earlier versions have.
func (t *Tx) NotesInside() bool { return t.notesInside }

// addNotes takes values from a record of their own.
func (t *Tx) addNotes(notes TxNotes) {
	for _, pair := range notes.Values {
		if _, known := t.Values[pair.Name]; !known && strings.HasPrefix(pair.Name, ownPrefix) {
			t.Values[pair.Name] = pair.Text
		}
	}
}
