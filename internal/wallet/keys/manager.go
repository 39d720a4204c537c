package keys

import (
	"cmp"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// descriptorManager is a descriptor of the wallet with the state of its scripts:
// how far they are derived and given out.
type descriptorManager struct {
	record  walletfile.DescriptorRecord
	written []byte // value of the record in the file
	desc    *descriptor.Descriptor
	cache   *keyCache
	notes   descriptor.Annotations
	normal  string // normalised text; empty until it is asked for

	// wanted is where the range is to end when slow keys have been made; 0: where
	// it does.
	wanted int32

	// wasActive is set from when it was active as an import ended: see
	// [Set.NoteActive].
	wasActive bool

	// used is the highest index that a payment was made to, -1 for none. It is kept while there is a gap.
	used int32

	// deferred is set while the key pool of a new wallet is filled up later.
	deferred bool

	// lastDerived is the last index whose scripts are derived: the one before the
	// range as long as there is none.
	lastDerived int32

	// scripts are the first scripts of the derived indices.
	scripts map[int32]*script

	// sizes are those of inputs that spend its scripts, as far as they were asked for.
	sizes map[form]inputSize
}

// newManager takes a descriptor without private keys.
func newManager(d *descriptor.Descriptor, created uint64) *descriptorManager {
	m := &descriptorManager{cache: &keyCache{}, lastDerived: -1, used: -1, scripts: make(map[int32]*script)}
	m.desc = d.WithCache(m.cache)
	m.record = walletfile.DescriptorRecord{
		ID: walletfile.DescriptorID(d), Text: d.String(), CreationTime: created,
	}
	return m
}

// loadedManager takes over a descriptor from the file.
func loadedManager(d *walletfile.Descriptor) *descriptorManager {
	m := newManager(d.Parsed, d.CreationTime)
	m.record, m.written, m.notes = d.DescriptorRecord, d.Value(), d.Annotations
	m.cache = cacheOf(d)
	m.desc = d.Parsed.WithCache(m.cache)
	return m
}

func (m *descriptorManager) id() chainhash.Hash { return m.record.ID }

// slot returns the place that the descriptor can be active at. It is false
// where its scripts are of no type of address, or of several.
func (m *descriptorManager) slot(internal bool) (walletfile.Slot, bool) {
	kind := m.desc.OutputType()
	if kind == descriptor.Unknown {
		return walletfile.Slot{}, false
	}
	return walletfile.Slot{Type: typeOf(kind), Internal: internal}, true
}

// slow reports whether keys that take milliseconds are derived from extended keys.
func (m *descriptorManager) slow() bool { return m.desc.HasP2MRSource() }

// wanting reports whether slow keys are to be made.
func (m *descriptorManager) wanting() bool { return m.wanted > m.lastDerived+1 }

// poolSize is the number of addresses that are derived and not given out.
func (m *descriptorManager) poolSize() int { return int(m.record.RangeEnd) - int(m.record.NextIndex) }

// maxAhead bounds how far ahead scripts are derived for a descriptor's gap limit.
const maxAhead = 100_000

// ahead returns how many scripts are derived ahead: as many as the key pool holds, or as many as the descriptor says
// that unused ones may come in between.
func (m *descriptorManager) ahead(pool int32) int32 {
	if m.notes.GapLimit == nil {
		return pool
	}
	return max(pool, int32(min(*m.notes.GapLimit, maxAhead)))
}

// annotate takes over annotations of a descriptor. Earlier annotations stay where the new ones say nothing.
func annotate(s *Set, m *descriptorManager, a descriptor.Annotations) {
	if a.IsZero() {
		return
	}
	m.notes = merge(m.notes, a)
	s.log.Put(walletfile.Annotations{ID: m.id(), Annotations: m.notes})
}

// merge returns annotations with what others tell in its place.
func merge(a, b descriptor.Annotations) descriptor.Annotations {
	return descriptor.Annotations{
		BirthHeight: cmp.Or(b.BirthHeight, a.BirthHeight), GapLimit: cmp.Or(b.GapLimit, a.GapLimit),
		MaxLabel: cmp.Or(b.MaxLabel, a.MaxLabel),
	}
}

// normalized returns the text that listdescriptors shows, where kept says that keys within miniscript stay as they
// are. It is false if the text needs private keys.
func (m *descriptorManager) normalized(kept bool) (string, bool) {
	if m.normal == "" {
		normal := descriptor.NormalizedPolicies
		if kept {
			normal = (*descriptor.Descriptor).NormalizedString
		}
		text, err := normal(m.desc)
		if err != nil {
			return "", false
		}
		m.normal = text
	}
	return m.normal, true
}
