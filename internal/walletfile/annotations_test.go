package walletfile_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// The annotations of a descriptor are in a record of a type that Core does not know. Records that cannot be read, and
// those of other descriptors, change nothing.
func TestAnnotations(t *testing.T) {
	records := coreRecords(t)[wholeWallet]
	i := slices.IndexFunc(records, hasType("walletdescriptor"))
	entry, err := walletfile.Parse(records[i])
	if err != nil {
		t.Fatal(err)
	}
	id := entry.(walletfile.DescriptorRecord).ID
	n, most := uint64(800000), uint64(math.MaxUint64)
	for _, want := range []descriptor.Annotations{
		{}, {BirthHeight: &n}, {GapLimit: new(uint64)}, {BirthHeight: &most, GapLimit: &n, MaxLabel: new(uint64)},
	} {
		note := walletfile.RecordOf(walletfile.Annotations{ID: id, Annotations: want})
		other := walletfile.RecordOf(walletfile.Annotations{Annotations: descriptor.Annotations{MaxLabel: &n}})
		broken := walletfile.Record{Key: append(slices.Clone(note.Key), 1), Value: []byte("\x01\x02bh\x01x")}
		content, severity, err := load(append(slices.Clone(records), note, other, broken))
		if err != nil || severity != walletfile.OK {
			t.Fatal(severity, err)
		}
		for _, d := range content.Descriptors {
			if d.ID != id {
				if !d.Annotations.IsZero() {
					t.Errorf("another descriptor has %+v", d.Annotations)
				}
				continue
			}
			got := walletfile.RecordOf(walletfile.Annotations{ID: id, Annotations: d.Annotations})
			if string(got.Value) != string(note.Value) {
				t.Errorf("got %q, want %q", got.Value, note.Value)
			}
		}
	}
	unknown := walletfile.Record{
		Key:   walletfile.Annotations{ID: id}.Key(),
		Value: []byte("\x02\x02zz\x01x\x02gl\x0230"),
	}
	read, err := walletfile.Parse(unknown)
	if a, ok := read.(walletfile.Annotations); err != nil || !ok || a.GapLimit == nil || *a.GapLimit != 30 {
		t.Errorf("%+v, %v", read, err)
	}
}
