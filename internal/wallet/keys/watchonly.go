package keys

import (
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// AddPublic adds a descriptor of another wallet in its public form, as listdescriptors shows it, with the range and the
// next index that it has there. Scripts are derived ahead as far as that goes without private keys.
//
// Errors: [*messages.WalletError].
func (im *Importer) AddPublic(d *walletfile.Descriptor) (*Added, error) {
	source := loadedManager(d)
	const kept = false
	text, ok := source.normalized(kept)
	if !ok {
		return nil, codes.Errorf(codes.Wallet, "Can't get descriptor string.")
	}
	branches, err := descriptor.Parse(text, im.set.params.Network, descriptor.Options{RequireChecksum: true})
	if err != nil {
		return nil, codes.Errorf(codes.Wallet, "%v", err)
	}
	m := im.publicManager(branches[0], source)
	annotate(im.set, m, source.notes)
	if err := im.pool.topUp(m, 0); err != nil { // hardened steps: the rest of the range stays as it is
		im.set.write(m)
	}
	im.bookPublic(m)
	return &Added{im, m}, nil
}

// publicManager takes a public descriptor in. Two forms of one descriptor become the same.
func (im *Importer) publicManager(public *descriptor.Descriptor, source *descriptorManager) *descriptorManager {
	m := newManager(public, source.record.CreationTime)
	if known := im.set.byID[m.id()]; known != nil {
		known.record.NextIndex = max(known.record.NextIndex, source.record.NextIndex)
		known.record.RangeEnd = max(known.record.RangeEnd, source.record.RangeEnd)
		return known
	}
	m.record.RangeStart, m.record.RangeEnd = source.record.RangeStart, source.record.RangeEnd
	m.record.NextIndex = source.record.NextIndex
	m.lastDerived = m.record.RangeStart - 1
	if !expands(public) && descriptor.HasScripts(public) { // not without what the other wallet has derived
		entries := source.cache.entries()
		_, _ = m.cache.merge(entries) // it is empty
		for _, e := range entries {
			im.pool.log.Put(cacheRecord(m.id(), e))
		}
	}
	im.set.add(m)
	return m
}

// bookPublic notes the addresses of a descriptor without a range in the address book, as when it is imported.
func (im *Importer) bookPublic(m *descriptorManager) {
	if m.desc.IsRanged() {
		return
	}
	scripts, _ := m.desc.Expand(0) // there are none of hardened steps that the cache lacks
	for _, pkScript := range scripts {
		if book.DestinationOf(im.set.params.Network, pkScript) != "" {
			im.set.labels.SetLabel(pkScript, "", book.PurposeReceive)
		}
	}
}

// Added is a descriptor that was taken in.
type Added struct {
	im *Importer
	m  *descriptorManager
}

// Activate makes the descriptor give the addresses of a slot.
func (a *Added) Activate(slot walletfile.Slot) { a.im.set.activate(a.m, slot) }
