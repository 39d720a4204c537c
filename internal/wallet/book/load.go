package book

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// Load takes over the address book of the file. [Book.EndLoading] follows when
// all transactions of the file are there.
func (b *Book) Load(addresses map[string]*walletfile.Address) {
	b.labels.bulk, b.paid.bulk = true, true
	texts := make([]string, 0, len(addresses))
	for text := range addresses {
		texts = append(texts, text)
	}
	slices.SortFunc(texts, compareAsKeys)
	for _, text := range texts {
		b.loadAddress(text, addresses[text])
	}
}

// EndLoading ends what [Book.Load] began.
func (b *Book) EndLoading() {
	b.labels.sort()
	b.paid.sort()
}

// loadAddress takes over one address. All texts that are no address share one
// entry, as in Core; on networks that do not have all types they are left out.
func (b *Book) loadAddress(text string, a *walletfile.Address) {
	var e *Entry
	pkScript, err := descriptor.ScriptOfAddress(text, b.net)
	switch {
	case err == nil:
		e = b.entry(pkScript)
	case b.net != nil && b.net.Restricted:
		b.skipped = append(b.skipped, text)
		return
	default:
		if e = b.entries[""]; e == nil {
			e = &Entry{}
			b.entries[""] = e
		}
	}
	if a.Label != nil {
		e.label = a.Label
	}
	if IsPurpose(a.Purpose) {
		e.purpose = a.Purpose
	}
	if _, ok := a.Data[walletfile.UsedName]; ok {
		e.spent = true
	}
	b.place(e)
}

// compareAsKeys orders texts as the keys of their records: by length first.
func compareAsKeys(a, b string) int {
	if len(a) != len(b) {
		return bytes.Compare(walletfile.KeyPrefix(a), walletfile.KeyPrefix(b))
	}
	return strings.Compare(a, b)
}

// Verify compares the lists that the book keeps with its entries, for tests, and
// reports the first difference.
func (b *Book) Verify() error {
	labels, paid := 0, 0
	for _, e := range b.entries {
		if e.label == nil {
			continue
		}
		labels++
		if b.payees[e.dest] != 0 {
			paid++
		}
	}
	for _, s := range []shelf{b.labels, b.paid} {
		if !slices.IsSortedFunc(s.entries, compareEntries) {
			return errors.New("address book is not in order")
		}
	}
	if got := len(b.labels.entries); got != labels {
		return fmt.Errorf("%d labelled addresses listed, want %d", got, labels)
	}
	if got := len(b.paid.entries); got != paid {
		return fmt.Errorf("%d paid addresses listed, want %d", got, paid)
	}
	return nil
}
