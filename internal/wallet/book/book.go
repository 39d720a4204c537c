// Package book is a wallet's address book: what it notes of addresses, its own
// and others.
package book

import (
	"cmp"
	"slices"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// The purposes of an address that are known.
const (
	PurposeReceive = "receive"
	PurposeSend    = "send"
	purposeRefund  = "refund"
)

// IsPurpose reports whether a text of a file is a purpose that is known.
func IsPurpose(text string) bool {
	return text == PurposeReceive || text == PurposeSend || text == purposeRefund
}

// Book is an address book.
type Book struct {
	net     *descriptor.Network
	log     *records.Log
	entries map[Destination]*Entry
	payees  map[Destination]int // numbers of own destinations that were paid to, with or without an entry
	labels  shelf               // entries with a label: all but change
	paid    shelf               // those of them that were paid to

	skipped []string // addresses of the file that the network does not have, and that have no entry
}

// New returns an empty address book, whose changes go into the log.
func New(net *descriptor.Network, log *records.Log) *Book {
	return &Book{
		net: net, log: log,
		entries: make(map[Destination]*Entry), payees: make(map[Destination]int),
	}
}

// Len returns how many entries there are, those without a label too.
func (b *Book) Len() int { return len(b.entries) }

// Skipped returns the addresses of the file that were left out, in the file's order.
func (b *Book) Skipped() []string { return b.skipped }

// Label returns the label of an address, or nil.
func (b *Book) Label(d Destination) *string {
	if e := b.entries[d]; e != nil {
		return e.label
	}
	return nil
}

// Used reports whether an address was spent from.
func (b *Book) Used(d Destination) bool {
	e := b.entries[d]
	return d != "" && e != nil && e.spent
}

// Find returns the entry of an address that has a label, or nil.
func (b *Book) Find(d Destination) *Entry {
	if e := b.entries[d]; e != nil && e.label != nil {
		return e
	}
	return nil
}

// Labelled returns the entries that have a label, in the order of their
// destinations. The list belongs to the book.
func (b *Book) Labelled() []*Entry { return b.labels.entries }

// Paid returns those of [Book.Labelled] that [Book.MarkPaid] was called for.
func (b *Book) Paid() []*Entry { return b.paid.entries }

// SetLabel notes the label and the purpose of the address of an output script.
func (b *Book) SetLabel(pkScript []byte, label, purpose string) {
	e := b.entry(pkScript)
	e.label, e.purpose = &label, purpose
	b.place(e)
	b.log.Put(walletfile.Purpose{Address: e.address, Purpose: purpose})
	b.log.Put(walletfile.Name{Address: e.address, Label: label})
}

// Together makes many changes in the time that their number takes: one after the other, each would move the entries
// behind its own. The lists are not to be read meanwhile.
func (b *Book) Together(change func()) {
	b.labels.bulk, b.paid.bulk = true, true
	defer func() {
		b.labels.sort()
		b.paid.sort()
	}()
	change()
}

// MarkPaid notes that an address is the wallet's and was paid to, and the number
// by which the payments to it are found, which is not 0.
func (b *Book) MarkPaid(d Destination, payee int) {
	if d == "" || b.payees[d] != 0 {
		return
	}
	b.payees[d] = payee
	if e := b.entries[d]; e != nil {
		b.place(e)
	}
}

// MarkUsed notes that the address of an output script was spent from, and reports
// whether that is new.
func (b *Book) MarkUsed(pkScript []byte) bool {
	if b.Used(DestinationOf(b.net, pkScript)) {
		return false
	}
	e := b.entry(pkScript)
	e.spent = true
	b.log.Put(walletfile.DestData{Address: e.address, Name: walletfile.UsedName, Text: "1"})
	return true
}

// entry returns the entry of a script's address, made if there is none.
func (b *Book) entry(pkScript []byte) *Entry {
	d := DestinationOf(b.net, pkScript)
	e := b.entries[d]
	if e == nil {
		address, _ := descriptor.AddressOf(pkScript, b.net)
		e = &Entry{dest: d, address: address, pkScript: slices.Clone(pkScript)}
		b.entries[d] = e
	}
	return e
}

// place puts an entry where it belongs.
func (b *Book) place(e *Entry) {
	if e.label == nil {
		return
	}
	if !e.onLabels {
		e.onLabels = true
		b.labels.add(e)
	}
	if payee := b.payees[e.dest]; payee != e.payee {
		e.payee = payee
		b.paid.add(e)
	}
}

// CheckLabel fails for the name that stands for all labels.
func CheckLabel(label string) *messages.WalletError {
	if label == "*" {
		return codes.Errorf(codes.Label, "Invalid label name")
	}
	return nil
}

// Labels returns the labels in use, sorted: those of addresses with the given
// purpose, or all.
func (b *Book) Labels(purpose string) []string {
	labels := make([]string, 0, 1)
	for _, e := range b.labels.entries {
		if purpose == "" || e.purpose == purpose {
			labels = append(labels, *e.label)
		}
	}
	slices.Sort(labels)
	return slices.Compact(labels)
}

// AddressesByLabel returns the addresses with a label in the order in which
// addresses are listed.
//
// Errors: [*messages.WalletError].
func (b *Book) AddressesByLabel(label string) ([]messages.LabelledAddress, error) {
	if err := CheckLabel(label); err != nil {
		return nil, err
	}
	var found []messages.LabelledAddress
	for _, e := range b.labels.entries {
		if *e.label == label {
			purpose := cmp.Or(e.purpose, "unknown")
			found = append(found, messages.LabelledAddress{Address: e.address, Purpose: purpose})
		}
	}
	if len(found) == 0 {
		return nil, codes.Errorf(codes.Label, "No addresses with label %s", label)
	}
	return found, nil
}
