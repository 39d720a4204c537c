package walletfile

import (
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
)

var errMixed = errors.New("Wallet contains both unencrypted and encrypted keys")

// loadDescriptors reads the descriptors, each with its other records. Records
// of descriptors that are not there are passed over unread.
func (l *loader) loadDescriptors() {
	parts := make(map[string]map[chainhash.Hash][]Record, len(partTypes))
	for _, name := range partTypes {
		parts[name] = byDescriptor(name, l.records[name])
	}
	for _, r := range l.records["walletdescriptor"] {
		if l.ctx.Err() != nil {
			return
		}
		d, severity, err := l.loadDescriptor(r)
		if err != nil {
			l.found(severity, err)
			continue
		}
		if DescriptorID(d.Parsed) != d.ID && l.keysAstray(parts) {
			l.found(Corrupt, fmt.Errorf("descriptor %v is filed under another id than its keys", d.ID))
			continue
		}
		for _, name := range partTypes {
			for _, r := range parts[name][d.ID] {
				if l.ctx.Err() != nil {
					return
				}
				if err := d.add(r); err != nil {
					l.found(Corrupt, fmt.Errorf("descriptor %v: %w", d.ID, err))
				}
			}
		}
		if len(d.Keys) > 0 {
			if len(d.CryptedKeys) > 0 && !l.opts.Mixed {
				l.found(Corrupt, errMixed)
			}
			d.CryptedKeys = nil
		}
		if len(d.PQCCryptedKeys) > 0 && len(d.CryptedKeys) > 0 {
			d.PQCKeys = nil // left over from before the wallet was encrypted
		}
		if err := d.checkRange(); err != nil {
			l.found(Corrupt, fmt.Errorf("descriptor %v: %w", d.ID, err))
		}
		l.wallet.Descriptors = append(l.wallet.Descriptors, d)
	}
}

// loadDescriptor reads a descriptor alone. A text that cannot be read is
// unknown; only a key that cannot be read is corrupt.
func (l *loader) loadDescriptor(r Record) (*Descriptor, Severity, error) {
	key := cursor{rest: r.Key}
	key.text()
	id := key.hash()
	if key.err != nil {
		return nil, Corrupt, fmt.Errorf("key of a descriptor: %w", key.err)
	}
	entry, err := Parse(r)
	if err != nil {
		return nil, UnknownDescriptor, fmt.Errorf("descriptor %v: %w", id, err)
	}
	record, ok := entry.(DescriptorRecord)
	if !ok {
		return nil, Corrupt, ErrRecord
	}
	branches, err := descriptor.Parse(record.Text, l.opts.Network, descriptor.Options{RequireChecksum: true})
	if err == nil && len(branches) > 1 {
		err = errors.New("more than one branch")
	}
	if err != nil {
		return nil, UnknownDescriptor, fmt.Errorf("descriptor %v: %w", id, err)
	}
	return &Descriptor{DescriptorRecord: record, Parsed: branches[0]}, OK, nil
}

// keysAstray reports whether there are private keys of no descriptor. The id
// itself says little of a descriptor's text: versions of Core spell its hardened
// steps in different ways.
func (l *loader) keysAstray(parts map[string]map[chainhash.Hash][]Record) bool {
	known := byDescriptor("walletdescriptor", l.records["walletdescriptor"])
	for _, name := range keyTypes {
		for id := range parts[name] {
			if known[id] == nil {
				return true
			}
		}
	}
	return false
}

// keyTypes are the types of the records of private keys.
var keyTypes = []string{
	"walletdescriptorkey", "walletdescriptorckey", "walletdescriptorpqckey", "walletdescriptorpqc_ckey",
}

// partTypes are the types of the records that belong to a descriptor.
var partTypes = []string{
	"walletdescriptorcache", "walletdescriptorlhcache",
	"walletdescriptorkey", "walletdescriptorckey",
	"walletdescriptorpqckey", "walletdescriptorpqc_ckey", "walletdescriptorp2mrcache",
}

// byDescriptor sorts records by the id that stands first in their keys.
func byDescriptor(name string, records []Record) map[chainhash.Hash][]Record {
	sorted := make(map[chainhash.Hash][]Record)
	for _, r := range records {
		c := cursor{rest: r.Key[len(KeyPrefix(name)):]}
		if id := c.hash(); c.err == nil {
			sorted[id] = append(sorted[id], r)
		}
	}
	return sorted
}

// add takes in a record that belongs to the descriptor.
func (d *Descriptor) add(r Record) error {
	entry, err := Parse(r)
	if err != nil {
		return err
	}
	switch e := entry.(type) {
	case ParentCache:
		put(&d.Parents, e.Expression, e.Xpub)
	case DerivedCache:
		indices := d.Derived[e.Expression]
		put(&indices, e.Index, e.Xpub)
		put(&d.Derived, e.Expression, indices)
	case LastHardenedCache:
		put(&d.LastHardened, e.Expression, e.Xpub)
	case DescriptorKey:
		d.Keys = append(d.Keys, e)
	case DescriptorCryptedKey:
		d.CryptedKeys = append(d.CryptedKeys, e)
	case PQCKey:
		d.PQCKeys = append(d.PQCKeys, e)
	case PQCCryptedKey:
		d.PQCCryptedKeys = append(d.PQCCryptedKeys, e)
	case P2MRCache:
		d.SlowKeys = append(d.SlowKeys, e)
	}
	return nil
}

// put sets an entry of a map, which is made if it is nil.
func put[V any](m *map[uint32]V, key uint32, value V) {
	if *m == nil {
		*m = make(map[uint32]V)
	}
	(*m)[key] = value
}
