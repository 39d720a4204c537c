package wallet

import (
	"bytes"
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// keyID is the hash by which a wallet names a public key.
type keyID [20]byte

func keyIDOf(public []byte) keyID { return keyID(btcutil.Hash160(public)) }

// source is a descriptor of the wallet: the source of its scripts.
type source struct {
	record  walletfile.DescriptorRecord
	written []byte // value of the record in the file
	desc    *descriptor.Descriptor
	cache   *keyCache
	normal  string // normalised text; empty until it is asked for

	keys    map[keyID]walletfile.DescriptorKey
	crypted map[keyID]walletfile.DescriptorCryptedKey
	pqc     map[slhdsa.PublicKey]*pqcKey

	// wanted is where the range is to end when keys of P2MR have been made; 0:
	// where it does.
	wanted int32

	// settled is set from when it was active as an import ended: see settleActive.
	settled bool

	// deferred is set while the key pool of a new wallet is filled up later.
	deferred bool

	// lastDerived counts derived indices from 0, wherever the range begins, as
	// Core does: a range that begins higher is derived in part again.
	lastDerived int32

	// scripts are the first scripts of the derived indices.
	scripts map[int32]*script
}

// newSource takes a descriptor without private keys.
func newSource(d *descriptor.Descriptor, created uint64) *source {
	s := &source{
		cache:       &keyCache{},
		keys:        make(map[keyID]walletfile.DescriptorKey),
		crypted:     make(map[keyID]walletfile.DescriptorCryptedKey),
		pqc:         make(map[slhdsa.PublicKey]*pqcKey),
		lastDerived: -1,
		scripts:     make(map[int32]*script),
	}
	s.desc = d.WithCache(s.cache)
	s.record = walletfile.DescriptorRecord{
		ID: walletfile.DescriptorID(d), Text: d.String(), CreationTime: created,
	}
	return s
}

// loadedSource takes over a descriptor from the file.
func loadedSource(d *walletfile.Descriptor) *source {
	s := newSource(d.Parsed, d.CreationTime)
	s.record, s.written = d.DescriptorRecord, d.Value()
	s.cache = cacheOf(d)
	s.desc = d.Parsed.WithCache(s.cache)
	for _, key := range d.Keys {
		s.keys[keyIDOf(key.Public)] = walletfile.DescriptorKey{
			Descriptor: key.Descriptor, Public: key.Public, Secret: key.Secret.Clone(),
		}
	}
	for _, key := range d.CryptedKeys {
		s.crypted[keyIDOf(key.Public)] = key
	}
	s.loadPQC(d)
	return s
}

func (s *source) id() chainhash.Hash { return s.record.ID }

// slot returns the place that the descriptor can be active at. It is false
// where its scripts are of no type of address, or of several.
func (s *source) slot(internal bool) (walletfile.Slot, bool) {
	kind := s.desc.OutputType()
	if kind == descriptor.Unknown {
		return walletfile.Slot{}, false
	}
	return walletfile.Slot{Type: walletfile.OutputType(kind - descriptor.Legacy), Internal: internal}, true
}

func (s *source) hasPrivateKeys() bool { return len(s.keys)+len(s.crypted) > 0 }

// p2mr reports whether keys of P2MR are derived from extended keys.
func (s *source) p2mr() bool { return s.desc.HasP2MRSource() }

// poolSize is the number of addresses that are derived and not given out.
func (s *source) poolSize() int { return int(s.record.RangeEnd) - int(s.record.NextIndex) }

// givesAddresses reports whether the descriptor can give new addresses, as far
// as that can be told without unlocking it.
func (s *source) givesAddresses() bool {
	return s.desc.IsSingleType() && s.desc.IsRanged() &&
		(s.hasPrivateKeys() || s.record.NextIndex < s.record.RangeEnd)
}

// normalized returns the text that listdescriptors shows. It is false where
// private keys are needed for it.
func (s *source) normalized() (string, bool) {
	if s.normal == "" {
		text, err := s.desc.NormalizedString()
		if err != nil {
			return "", false
		}
		s.normal = text
	}
	return s.normal, true
}

func (s *source) wipe() {
	for _, key := range s.keys {
		key.Secret.Zero()
	}
	for _, key := range s.pqc {
		key.plain.Secret.Zero()
	}
}

// write writes the record of the descriptor if it has changed.
func (w *Wallet) write(s *source) {
	value := s.record.Value()
	if !bytes.Equal(value, s.written) {
		s.written = value
		w.log.Put(s.record)
	}
}

// addSource takes in a new descriptor.
func (w *Wallet) addSource(s *source) {
	w.sources = append(w.sources, s)
	w.byID[s.id()] = s
	w.bornBy(int64(s.record.CreationTime))
}

// isActive tells whether the descriptor gives new addresses, and then whether
// they are for change.
func (w *Wallet) isActive(s *source) (active, internal bool) {
	for slot, other := range w.active {
		if other == s {
			active, internal = true, internal || slot.Internal
		}
	}
	return active, internal
}

// activate makes the descriptor give the addresses of a slot. It does so for
// receiving or for change only.
func (w *Wallet) activate(s *source, slot walletfile.Slot) {
	w.log.Put(walletfile.Active{Slot: slot, ID: s.id()})
	w.active[slot] = s
	other := walletfile.Slot{Type: slot.Type, Internal: !slot.Internal}
	if w.active[other] == s {
		delete(w.active, other)
	}
}

func (w *Wallet) deactivate(s *source, slot walletfile.Slot) {
	if w.active[slot] == s {
		w.log.Remove(slot.Key())
		delete(w.active, slot)
	}
}

// activeSources returns the active descriptors, each once: those for receiving
// first, by type.
func (w *Wallet) activeSources() []*source {
	var found []*source
	for _, internal := range []bool{false, true} {
		for kind := walletfile.Legacy; kind <= walletfile.P2MR; kind++ {
			s := w.active[walletfile.Slot{Type: kind, Internal: internal}]
			if s != nil && !slices.Contains(found, s) {
				found = append(found, s)
			}
		}
	}
	return found
}
