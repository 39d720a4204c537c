package book

import (
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/records"
)

// Verify notices lists that differ from the entries.
func TestVerify(t *testing.T) {
	for name, change := range map[string]func(*Book){
		"labels missing":  func(b *Book) { b.labels.entries = b.labels.entries[1:] },
		"paid missing":    func(b *Book) { b.paid.entries = b.paid.entries[1:] },
		"labels disorder": func(b *Book) { slices.Reverse(b.labels.entries) },
		"paid disorder":   func(b *Book) { slices.Reverse(b.paid.entries) },
	} {
		b := New(descriptor.NetworkOf(&chaincfg.RegressionNetParams), new(records.Log))
		for i := range byte(3) {
			pkScript := append([]byte{0, 20, i}, make([]byte, 19)...)
			b.SetLabel(pkScript, "a", PurposeReceive)
			b.MarkPaid(DestinationOf(b.net, pkScript), int(i)+1)
		}
		b.MarkUsed(append([]byte{0, 20, 9}, make([]byte, 19)...)) // an entry without a label
		if err := b.Verify(); err != nil {
			t.Errorf("%s: before: %v", name, err)
		}
		change(b)
		if err := b.Verify(); err == nil {
			t.Errorf("%s: not noticed", name)
		}
	}
}
