package keys

import (
	"fmt"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// staged is a branch of an import that can be taken in without failing: whatever
// could fail has been done, and has left nothing in the wallet.
type staged struct {
	desc     *descriptor.Descriptor // with its private keys
	internal bool
	warnings []string

	m       *descriptorManager // not the wallet's yet
	cache   []descriptor.CacheEntry
	end     int32      // of the range, with the part derived ahead
	scripts [][][]byte // from the beginning of the range; none of slow keys
}

// stage makes a branch ready.
func (r *importing) stage(d *descriptor.Descriptor, internal bool) (*staged, *messages.WalletError) {
	s := &staged{desc: d, internal: internal}
	if err := r.checkBranch(s); err != nil {
		return nil, err
	}
	if err := r.derive(s); err != nil {
		return nil, codes.Errorf(codes.Wallet, "Could not add descriptor '%s': %s", r.item.Desc, err.Error())
	}
	return s, nil
}

// checkBranch refuses a branch that the wallet cannot have.
func (r *importing) checkBranch(s *staged) *messages.WalletError {
	d := s.desc
	if d.HasP2MRSource() && !d.HasPrivateKeys() {
		return codes.Errorf(codes.Wallet,
			"Cannot import public P2MR descriptor: BIP32 extended public keys cannot derive "+
				"SPHINCS+/P2MR public keys. Use exportpubkeydb/importpubkeydb for watch-only P2MR tracking.")
	}
	if !expands(d) {
		return codes.Errorf(codes.Wallet,
			"Cannot expand descriptor. Probably because of hardened derivations without private keys provided")
	}
	s.warnings = append(s.warnings, d.Warnings()...)
	if r.flags.Has(walletfile.DisablePrivateKeys) {
		return r.checkUnused(d)
	}
	if !d.HasPrivateKeys() {
		return codes.Errorf(codes.Wallet,
			"Cannot import descriptor without private keys to a wallet with private keys enabled")
	}
	if !d.HasAllPrivateKeys() {
		s.warnings = append(s.warnings,
			"Not all private keys provided. Some wallet functionality may return unexpected errors")
	}
	return r.checkUnused(d)
}

// derive derives what the wallet will have of a branch.
func (r *importing) derive(s *staged) error {
	public, err := descriptor.Parse(s.desc.String(), r.set.params.Network, descriptor.Options{})
	if err != nil {
		return err
	}
	m := newManager(public[0], uint64(r.created))
	m.record.RangeStart, m.record.RangeEnd, m.record.NextIndex = r.start, r.end, r.next
	m.lastDerived, m.notes = r.start-1, r.notes
	old := r.set.byID[m.id()]
	if old != nil {
		m.record.ID = old.id() // under which its keys are filed
		m.notes = merge(old.notes, r.notes)
	}
	s.m, s.end = m, r.pool.poolEnd(m, 0)
	if old != nil && m.desc.IsRanged() && (r.start > old.record.RangeStart || r.end < old.record.RangeEnd) {
		return fmt.Errorf("new range must include current range = [%d,%d]",
			old.record.RangeStart, old.record.RangeEnd-1)
	}
	if m.slow() {
		if !r.pool.hasKeys(m, old, s.end) {
			return errTopUp
		}
		return nil
	}
	if s.cache, err = s.desc.CacheEntries(uint32(r.start), uint32(s.end-1)); err != nil {
		return errTopUp
	}
	if _, err := m.cache.merge(s.cache); err != nil {
		return errTopUp
	}
	err = r.pool.expand(m, r.start, s.end-1, func(_ uint32, scripts [][]byte) error {
		s.scripts = append(s.scripts, scripts)
		return nil
	})
	if err != nil {
		return errTopUp
	}
	return nil
}

// store takes a descriptor into the wallet, or brings the wallet's descriptor up
// to date.
func (r *importing) store(s *staged) *descriptorManager {
	m := r.managerOf(s.m)
	own := s.desc.PrivateKeys()
	r.vault.AddKeys(m.id(), own)
	clear(own)
	if m.slow() {
		_ = r.pool.topUp(m, 0) // the keys are there
		return m
	}
	for _, e := range s.cache {
		r.pool.log.Put(cacheRecord(m.id(), e))
	}
	for i, scripts := range s.scripts {
		r.pool.own(m, r.start+int32(i), scripts)
	}
	m.lastDerived, m.record.RangeEnd = s.end-1, s.end
	r.pool.noteFill(m)
	r.set.write(m)
	return m
}

// managerOf returns the descriptor of the wallet with the range of the import: the
// new descriptor, or the old descriptor of the same id.
func (r *importing) managerOf(fresh *descriptorManager) *descriptorManager {
	old := r.set.byID[fresh.id()]
	if old == nil {
		r.set.add(fresh)
		return fresh
	}
	fresh.cache.slow = old.cache.slow // the same keys, and they take long
	old.record, old.desc, old.cache = fresh.record, fresh.desc, fresh.cache
	old.normal, old.lastDerived = "", fresh.lastDerived
	r.set.birth = min(r.set.birth, r.created)
	if old.wasActive {
		r.set.birthAt(r.created)
	}
	return old
}

// addresses returns the scripts of a descriptor without a range.
func (s *staged) addresses(m *descriptorManager) [][]byte {
	if len(s.scripts) > 0 {
		return s.scripts[0]
	}
	scripts, _ := m.desc.Expand(0) // of slow keys, which are there
	return scripts
}
