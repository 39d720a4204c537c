package keys

import (
	"bytes"
	"math"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/wallet/vault"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// NoTime is a birth time that is not known.
const NoTime int64 = math.MaxInt64

// Set is the descriptors of a wallet, and the scripts that are its own.
type Set struct {
	params   Params
	flags    *records.Flags
	log      *records.Log
	vault    *vault.Vault
	labels   Labels
	listener Listener

	managers []*descriptorManager                  // in the order in which they came
	byID     map[chainhash.Hash]*descriptorManager // by the ids of their records and by their usual ids
	active   map[walletfile.Slot]*descriptorManager

	scripts    map[string]*script // own ones
	ownScripts [][]byte           // in the order in which they came

	// defaultType and changeType are those of new addresses if nothing is said.
	defaultType, changeType walletfile.OutputType

	birth    int64 // of the oldest descriptor
	reported int64 // the same as reported to clients: see NoteActive
}

// NewSet returns a set of no descriptors. The listener is notified of each script that
// becomes the wallet's.
func NewSet(
	p Params, flags *records.Flags, log *records.Log, secrets *vault.Vault, labels Labels, listener Listener,
) *Set {
	p.KeyPool = max(p.KeyPool, 1)
	return &Set{
		params: p, flags: flags, log: log, vault: secrets, labels: labels, listener: listener,
		byID:    make(map[chainhash.Hash]*descriptorManager),
		active:  make(map[walletfile.Slot]*descriptorManager),
		scripts: make(map[string]*script),
		birth:   NoTime, reported: NoTime,
	}
}

// Len returns how many descriptors there are.
func (s *Set) Len() int { return len(s.managers) }

// Birth returns the time from which the oldest descriptor is; [NoTime] if there is
// none.
func (s *Set) Birth() int64 { return s.birth }

// ReportedBirth returns the birth time that is reported to clients, as Core does.
func (s *Set) ReportedBirth() int64 { return s.reported }

// birthAt notes that a descriptor is from the given time.
func (s *Set) birthAt(t int64) {
	s.birth = min(s.birth, t)
	s.reported = min(s.reported, t)
}

// NoteActive notes which descriptors are active when the wallet is ready, and
// again after each import. When such a descriptor is imported again with an
// earlier time, the reported birth time moves at once. For other
// descriptors it moves when the wallet is loaded again, as in Core. The birth
// time that the wallet itself uses moves always.
func (s *Set) NoteActive() {
	for _, m := range s.activeManagers() {
		m.wasActive = true
	}
}

// add takes in a new descriptor.
func (s *Set) add(m *descriptorManager) {
	s.managers = append(s.managers, m)
	s.byID[m.id()] = m
	// Files may have it under the id of another version of Core.
	if usual := walletfile.DescriptorID(m.desc); s.byID[usual] == nil {
		s.byID[usual] = m
	}
	s.birthAt(int64(m.record.CreationTime))
}

// write writes the record of the descriptor if it has changed.
func (s *Set) write(m *descriptorManager) {
	value := m.record.Value()
	if !bytes.Equal(value, m.written) {
		m.written = value
		s.log.Put(m.record)
	}
}

// isActive tells whether the descriptor gives new addresses, and then whether
// they are for change.
func (s *Set) isActive(m *descriptorManager) (active, internal bool) {
	for slot, other := range s.active {
		if other == m {
			active, internal = true, internal || slot.Internal
		}
	}
	return active, internal
}

// activate makes the descriptor give the addresses of a slot. It does so for
// receiving or for change only.
func (s *Set) activate(m *descriptorManager, slot walletfile.Slot) {
	s.log.Put(walletfile.Active{Slot: slot, ID: m.id()})
	s.active[slot] = m
	other := walletfile.Slot{Type: slot.Type, Internal: !slot.Internal}
	if s.active[other] == m {
		delete(s.active, other)
	}
}

func (s *Set) deactivate(m *descriptorManager, slot walletfile.Slot) {
	if s.active[slot] == m {
		s.log.Remove(slot.Key())
		delete(s.active, slot)
	}
}

// activeManagers returns the active descriptors, each once: those for receiving
// first, by type.
func (s *Set) activeManagers() []*descriptorManager {
	var found []*descriptorManager
	for _, internal := range []bool{false, true} {
		for kind := walletfile.Legacy; kind <= walletfile.MerkleRoot; kind++ {
			m := s.active[walletfile.Slot{Type: kind, Internal: internal}]
			if m != nil && !slices.Contains(found, m) {
				found = append(found, m)
			}
		}
	}
	return found
}

// DerivesAll reports whether there are active descriptors, and each has a range of addresses.
func (s *Set) DerivesAll() bool {
	active := s.activeManagers()
	single := func(m *descriptorManager) bool { return !m.desc.IsRanged() }
	return len(active) > 0 && !slices.ContainsFunc(active, single)
}

// PoolSizes returns how many addresses are derived and not given out: those for
// receiving, and those for change alone.
func (s *Set) PoolSizes() (receiving, change int) {
	all := 0
	for slot, m := range s.active {
		if !slot.Internal {
			receiving += m.poolSize()
		}
	}
	for _, m := range s.activeManagers() {
		all += m.poolSize()
	}
	return receiving, all - receiving
}

// ChooseDefaultTypes settles the types of new addresses when the wallet is loaded.
func (s *Set) ChooseDefaultTypes() {
	s.defaultType = walletfile.Bech32
	if kind := typeOf(s.params.Kinds.Default); s.active[walletfile.Slot{Type: kind}] != nil {
		s.defaultType = kind
	}
	if kind, ok := s.params.Kinds.Named(s.params.Types.Receive); ok {
		s.defaultType = typeOf(kind)
	}
	s.changeType = s.defaultType
	if kind, ok := s.params.Kinds.Named(s.params.Types.Change); ok {
		s.changeType = typeOf(kind)
	}
}

// defaultFor returns the type of an address for which no type was asked.
func (s *Set) defaultFor(change bool) walletfile.OutputType {
	if change {
		return s.changeType
	}
	return s.defaultType
}

// hidden reports whether the public text of a descriptor is not to be shown,
// because addresses seem to be derivable from the text.
func (s *Set) hidden(m *descriptorManager) bool { return s.params.Kinds.OnlySlowKeys && m.slow() }

// shown returns the public text of a descriptor, if it may be shown.
func (s *Set) shown(m *descriptorManager) (string, bool) {
	if s.hidden(m) {
		return "", false
	}
	return m.normalized(s.params.Kinds.Answers.KeepsPolicyKeys)
}

// withPrivateKeys returns the descriptor with its private keys, as far as the
// wallet is unlocked.
func (s *Set) withPrivateKeys(m *descriptorManager) (full *descriptor.Descriptor, err error) {
	s.vault.WithPrivateKeys(m.id(), func(keys []descriptor.PrivateKey) {
		var branches []*descriptor.Descriptor
		branches, err = descriptor.Parse(m.record.Text, s.params.Network, descriptor.Options{PrivateKeys: keys})
		if err == nil {
			full = branches[0].WithCache(m.cache)
		}
	})
	return full, err
}
