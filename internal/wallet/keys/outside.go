package keys

import (
	"fmt"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// SetupOutside makes the descriptors of a signing device active, for receiving or for
// change. Descriptors of no type of address are passed over.
//
// Errors: texts of Core's.
func (im *Importer) SetupOutside(texts []string, internal bool, now int64) error {
	for _, text := range texts {
		parsed, err := descriptor.Parse(text, im.set.params.Network, descriptor.Options{})
		if err != nil {
			return fmt.Errorf("SetupDescriptorScriptPubKeyMans: Invalid descriptor \"%s\" (%w)", text, err)
		}
		m := newManager(parsed[0], uint64(now))
		slot, ok := m.slot(internal)
		if !ok {
			continue
		}
		if im.set.byID[m.id()] == nil {
			im.set.add(m)
		} else {
			m = im.set.byID[m.id()]
		}
		if err := im.pool.topUp(m, 0); err != nil {
			return err
		}
		if im.flags.Has(walletfile.Blank) {
			im.flags.Set(im.flags.Value() &^ walletfile.Blank)
		}
		im.set.activate(m, slot)
	}
	return nil
}
