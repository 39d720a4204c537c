package keys

import (
	"bytes"
	"testing"

	"github.com/seed61375155/trawl/internal/walletfile"
)

// The descriptors of a device give addresses for receiving and for change, each from its own descriptor.
func TestSetupOutside(t *testing.T) {
	r := newRig(false)
	if err := r.importer.SetupOutside([]string{"wpkh(" + expandingXpub + "/0/*)", "raw(51)"}, false, 7); err != nil {
		t.Fatal(err)
	}
	r.set.ChooseDefaultTypes()
	if _, err := r.pool.NextChange("bech32"); err == nil {
		t.Error("change comes from a descriptor for receiving")
	}
	if err := r.importer.SetupOutside([]string{"wpkh(" + expandingXpub + "/1/*)"}, true, 7); err != nil {
		t.Fatal(err)
	}
	want := expandOf(t, "wpkh("+expandingXpub+"/1/*)", 1)[0]
	if got, err := r.pool.NextChange("bech32"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("change goes to %x, %v, want %x", got, err, want)
	}
	if len(r.set.active) != 2 || len(r.set.Scripts()) != 200 {
		t.Errorf("%d active descriptors with %d scripts, want 2 with 200", len(r.set.active), len(r.set.Scripts()))
	}
	for _, internal := range []bool{false, true} {
		m := r.set.active[walletfile.Slot{Type: walletfile.Bech32, Internal: internal}]
		if m == nil || m.record.CreationTime != 7 {
			t.Errorf("internal %v: %+v", internal, m)
		}
	}
	if err := r.importer.SetupOutside([]string{"wpkh(x)"}, false, 7); err == nil {
		t.Error("a descriptor that cannot be parsed is taken")
	}
}
