package book

import (
	"cmp"
	"slices"
)

// Entry is what is noted of one address.
type Entry struct {
	dest     Destination
	address  string
	pkScript []byte  // nil for a text that is no address
	label    *string // nil: none, as change has
	purpose  string  // empty: none that is known
	spent    bool    // it was spent from, in a wallet that avoids reuse

	onLabels bool
	payee    int // as [Book.MarkPaid] was given, once the entry is among those paid
}

// Address returns the text of the address.
func (e *Entry) Address() string { return e.address }

// Script returns the output script of the address; nil for a text that is none.
func (e *Entry) Script() []byte { return e.pkScript }

// Label returns the label, which is empty if there is none.
func (e *Entry) Label() string {
	if e.label == nil {
		return ""
	}
	return *e.label
}

// Payee returns the number that [Book.MarkPaid] was given; 0 before.
func (e *Entry) Payee() int { return e.payee }

// shelf holds entries in the order of their destinations.
type shelf struct {
	entries []*Entry
	bulk    bool // entries are added at the end, to be sorted together
}

func (s *shelf) add(e *Entry) {
	if s.bulk {
		s.entries = append(s.entries, e)
		return
	}
	at, _ := slices.BinarySearchFunc(s.entries, e, compareEntries)
	s.entries = slices.Insert(s.entries, at, e)
}

// sort ends the adding in bulk.
func (s *shelf) sort() {
	slices.SortFunc(s.entries, compareEntries)
	s.bulk = false
}

func compareEntries(a, b *Entry) int { return cmp.Compare(a.dest, b.dest) }
