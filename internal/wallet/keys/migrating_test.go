package keys

import (
	"testing"

	"github.com/seed61375155/trawl/internal/wallet/book"
)

// Migrated descriptors have the range that they come with, and the wallet has each once.
func TestAddMigrated(t *testing.T) {
	const ranged = "wpkh(" + expandingXpub + "/0/*)"
	for name, test := range map[string]struct {
		text    string
		end     int32
		scripts int
		want    string
	}{
		"ranged":          {ranged, 3, 3, ""},
		"without a range": {ranged, 0, 0, ""},
		"single":          {"wpkh(" + expandingXpub + "/0/7)", 0, 1, ""},
		"hardened":        {"wpkh(" + expandingXpub + "/0h/*)", 3, 0, errNeedsKey},
	} {
		r := newRig(false)
		d := Migrated{Public: parsed(t, test.text), Created: 7, End: test.end}
		checkText(t, name, r.importer.AddMigrated(d), test.want)
		m := r.set.managers[0]
		if len(r.set.Scripts()) != test.scripts || test.want == "" && m.record.RangeEnd != int32(test.scripts) {
			t.Errorf("%s: %d scripts, and a range to %d", name, len(r.set.Scripts()), m.record.RangeEnd)
		}
		if written := countRecords(r, "walletdescriptor"); (written > 0) != (test.want == "") {
			t.Errorf("%s: %d records", name, written)
		}
		checkText(t, name+" again", r.importer.AddMigrated(d),
			"Error: Duplicate descriptors created during migration. Your wallet may be corrupted.")
		if r.set.Len() != 1 {
			t.Errorf("%s: %d descriptors", name, r.set.Len())
		}
	}
}

const errNeedsKey = "hardened derivation needs a private key"

// A script that is watched after a migration is in the address book where it has an address. To add it
// again changes nothing.
func TestAddWatched(t *testing.T) {
	for text, want := range map[string]bool{
		"wpkh(" + expandingXpub + "/0/7)": true,
		"pk(" + expandingXpub + "/0/7)":   false,
	} {
		r := newRig(false)
		for range 2 {
			if err := r.importer.AddWatched(Migrated{Public: parsed(t, text), Created: 7}); err != nil {
				t.Fatal(err)
			}
		}
		own := r.set.Scripts()
		if len(own) != 1 || r.set.Len() != 1 {
			t.Fatalf("%s: %d scripts, %d descriptors", text, len(own), r.set.Len())
		}
		listed := r.book.Label(book.DestinationOf(r.set.params.Network, own[0])) != nil
		if listed != want {
			t.Errorf("%s: in the address book: %v", text, listed)
		}
	}
	r := newRig(false)
	d := Migrated{Public: parsed(t, "wpkh("+expandingXpub+"/0h/7)"), Created: 7}
	checkText(t, "hardened", r.importer.AddWatched(d), errNeedsKey)
}
