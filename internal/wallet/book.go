package wallet

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// The purposes of an address that are known.
const (
	purposeReceive = "receive"
	purposeSend    = "send"
	purposeRefund  = "refund"
)

// addressBook is what the wallet notes of addresses, its own and others.
type addressBook struct {
	entries map[destination]*entry
	labels  shelf // entries with a label: all but change
	paid    shelf // those of them whose script is the wallet's and was paid to
}

// entry is what is noted of one address.
type entry struct {
	dest    destination
	address string
	script  *script // nil for a text that is no address
	label   *string // nil: none, as change has
	purpose string  // empty: none that is known
	spent   bool    // it was spent from, in a wallet that avoids reuse

	onLabels, onPaid bool
}

func newAddressBook() addressBook {
	return addressBook{entries: make(map[destination]*entry)}
}

// listed reports whether an address has a label.
func (b *addressBook) listed(d destination) bool { return b.label(d) != nil }

// label returns the label of an address, or nil.
func (b *addressBook) label(d destination) *string {
	if e := b.entries[d]; e != nil {
		return e.label
	}
	return nil
}

// used reports whether an address was spent from.
func (b *addressBook) used(d destination) bool {
	e := b.entries[d]
	return d != "" && e != nil && e.spent
}

// place puts an entry where it belongs.
func (b *addressBook) place(e *entry) {
	if e.label == nil {
		return
	}
	if !e.onLabels {
		e.onLabels = true
		b.labels.add(e)
	}
	if !e.onPaid && e.script != nil && e.script.mine() && len(e.script.outs) > 0 {
		e.onPaid = true
		b.paid.add(e)
	}
}

// relist places the entry of a script that was paid, or became the wallet's.
func (b *addressBook) relist(s *script) {
	if e := b.entries[s.dest]; s.dest != "" && e != nil {
		b.place(e)
	}
}

// shelf holds entries in the order of their destinations.
type shelf struct {
	entries []*entry
	bulk    bool // entries are added at the end, to be sorted together
}

func (s *shelf) add(e *entry) {
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

func compareEntries(a, b *entry) int { return cmp.Compare(a.dest, b.dest) }

// entry returns the entry of a script's address, made if there is none.
func (w *Wallet) entry(pkScript []byte) *entry {
	s := w.script(pkScript)
	e := w.book.entries[s.dest]
	if e == nil {
		address, _ := descriptor.AddressOf(pkScript, w.params.Network)
		e = &entry{dest: s.dest, address: address, script: s}
		w.book.entries[s.dest] = e
	}
	return e
}

// setLabel notes the label and the purpose of an address.
func (w *Wallet) setLabel(pkScript []byte, label, purpose string) {
	e := w.entry(pkScript)
	e.label, e.purpose = &label, purpose
	w.book.place(e)
	w.put(walletfile.Purpose{Address: e.address, Purpose: purpose})
	w.put(walletfile.Name{Address: e.address, Label: label})
}

// markAddressUsed notes that a script's address was spent from.
func (w *Wallet) markAddressUsed(s *script) {
	if w.book.used(s.dest) {
		return
	}
	e := w.entry(s.bytes)
	e.spent = true
	w.put(walletfile.DestData{Address: e.address, Name: walletfile.UsedName, Text: "1"})
	for _, out := range s.outs {
		w.refresh(out)
	}
}

// loadBook takes over the address book of the file. All texts that are no
// address share one entry, as in Core.
func (w *Wallet) loadBook(addresses map[string]*walletfile.Address) {
	w.book.labels.bulk, w.book.paid.bulk = true, true
	texts := make([]string, 0, len(addresses))
	for text := range addresses {
		texts = append(texts, text)
	}
	slices.SortFunc(texts, compareAsKeys)
	for _, text := range texts {
		w.loadAddress(text, addresses[text])
	}
}

// endLoading ends what [Wallet.loadBook] began, when all transactions are there.
func (b *addressBook) endLoading() {
	b.labels.sort()
	b.paid.sort()
}

func (w *Wallet) loadAddress(text string, a *walletfile.Address) {
	var e *entry
	pkScript, err := descriptor.ScriptOfAddress(text, w.params.Network)
	if err == nil {
		e = w.entry(pkScript)
	} else if e = w.book.entries[""]; e == nil {
		e = &entry{}
		w.book.entries[""] = e
	}
	if a.Label != nil {
		e.label = a.Label
	}
	switch a.Purpose {
	case purposeReceive, purposeSend, purposeRefund:
		e.purpose = a.Purpose
	}
	if _, ok := a.Data[walletfile.UsedName]; ok {
		e.spent = true
	}
	w.book.place(e)
}

// compareAsKeys orders texts as the keys of their records: by length first.
func compareAsKeys(a, b string) int {
	if len(a) != len(b) {
		return bytes.Compare(walletfile.KeyPrefix(a), walletfile.KeyPrefix(b))
	}
	return strings.Compare(a, b)
}

// SetLabel gives an address a label. An address that is not the wallet's is one
// to send to.
//
// Errors: [*messages.WalletError].
func (w *Wallet) SetLabel(r messages.SetLabel) error {
	if err := checkLabel(r.Label); err != nil {
		return err
	}
	purpose := purposeSend
	if w.IsMine(r.Script) {
		purpose = purposeReceive
	}
	w.setLabel(r.Script, r.Label, purpose)
	return nil
}

// Labels returns the labels in use, sorted: those of addresses with the given
// purpose, or all.
func (w *Wallet) Labels(purpose string) []string {
	labels := make([]string, 0, 1)
	for _, e := range w.book.labels.entries {
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
func (w *Wallet) AddressesByLabel(label string) ([]messages.LabelledAddress, error) {
	if err := checkLabel(label); err != nil {
		return nil, err
	}
	var found []messages.LabelledAddress
	for _, e := range w.book.labels.entries {
		if *e.label == label {
			purpose := cmp.Or(e.purpose, "unknown")
			found = append(found, messages.LabelledAddress{Address: e.address, Purpose: purpose})
		}
	}
	if len(found) == 0 {
		return nil, failf(codeLabel, "No addresses with label %s", label)
	}
	return found, nil
}
