package keys

import (
	"fmt"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// importing adds one descriptor, which may have several branches.
type importing struct {
	*Importer

	item     *messages.ImportItem
	created  int64
	warnings []string

	branches   []*descriptor.Descriptor
	start, end int32 // range, the end not included
	next       int32
}

func (r *importing) warn(text string) { r.warnings = append(r.warnings, text) }

// run checks in Core's order, then adds the branches one by one. What was added
// before one fails stays.
func (r *importing) run() *messages.WalletError {
	for _, step := range []func() *messages.WalletError{
		r.parse, r.checkRange, r.checkNext, r.checkUse, r.checkLabel, r.checkKeys,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	for i, d := range r.branches {
		internal := r.item.Internal != nil && *r.item.Internal
		if len(r.branches) == 2 {
			internal = i == 1
		}
		if err := r.add(d, internal); err != nil {
			return err
		}
	}
	return nil
}

func (r *importing) parse() *messages.WalletError {
	if r.item.NoDesc {
		return codes.Errorf(codes.Parameter, "Descriptor not found.")
	}
	if r.item.Label != nil {
		if err := book.CheckLabel(*r.item.Label); err != nil {
			return err
		}
	}
	var err error
	r.branches, err = descriptor.Parse(r.item.Desc, r.set.params.Network, descriptor.Options{RequireChecksum: true})
	if err != nil {
		return codes.Errorf(codes.AddressOrKey, "%s", err.Error())
	}
	if err := r.checkP2MR(); err != nil {
		return err
	}
	if r.item.Internal != nil && len(r.branches) > 1 {
		return codes.Errorf(codes.AddressOrKey, "Cannot have multipath descriptor while also specifying 'internal'")
	}
	return nil
}

func (r *importing) ranged() bool { return r.branches[0].IsRanged() }

func (r *importing) hasRange() bool { return r.item.Range != nil || r.item.RangeErr != nil }

func (r *importing) checkRange() *messages.WalletError {
	r.start, r.end = 0, 1
	switch {
	case !r.ranged() && r.hasRange():
		return codes.Errorf(codes.Parameter, "Range should not be specified for an un-ranged descriptor")
	case !r.ranged():
		return nil
	case !r.hasRange():
		r.warn("Range not given, using default keypool range")
		r.end = r.set.params.KeyPool
		return nil
	case r.item.RangeErr != nil:
		return codes.Errorf(codes.Parameter, "%s", r.item.RangeErr.Error())
	}
	begin, end := r.item.Range[0], r.item.Range[1]
	if err := descriptor.CheckRange(begin, end); err != nil {
		return codes.Errorf(codes.Parameter, "%s", err.Error())
	}
	if end == descriptor.MaxIndex { // one more does not fit into the file
		return codes.Errorf(codes.Parameter, "%s", descriptor.ErrRangeEnd.Error())
	}
	r.start, r.end = int32(begin), int32(end)+1
	return nil
}

func (r *importing) checkNext() *messages.WalletError {
	if !r.ranged() {
		return nil
	}
	r.next = r.start
	if next := r.item.NextIndex; next != nil {
		if *next < int64(r.start) || *next >= int64(r.end) {
			return codes.Errorf(codes.Parameter, "next_index is out of range")
		}
		r.next = int32(*next)
	}
	return nil
}

func (r *importing) checkUse() *messages.WalletError {
	if r.item.Active && !r.ranged() {
		return codes.Errorf(codes.Parameter, "Active descriptors must be ranged")
	}
	return nil
}

func (r *importing) checkLabel() *messages.WalletError {
	if r.item.Label == nil {
		return nil
	}
	switch {
	case len(r.branches) > 1:
		return codes.Errorf(codes.Parameter, "Multipath descriptors should not have a label")
	case r.hasRange():
		return codes.Errorf(codes.Parameter, "Ranged descriptors should not have a label")
	case r.item.Internal != nil:
		return codes.Errorf(codes.Parameter, "Internal addresses should not have a label")
	}
	return nil
}

func (r *importing) checkKeys() *messages.WalletError {
	if r.item.Active && !r.branches[0].IsSingleType() {
		return codes.Errorf(codes.Wallet, "Combo descriptors cannot be set to active")
	}
	if r.flags.Has(walletfile.DisablePrivateKeys) && r.branches[0].HasPrivateKeys() {
		return codes.Errorf(codes.Wallet, "Cannot import private keys to a wallet with private keys disabled")
	}
	return nil
}

// add adds one branch.
func (r *importing) add(d *descriptor.Descriptor, internal bool) *messages.WalletError {
	if d.HasP2MRSource() && !d.HasPrivateKeys() {
		return codes.Errorf(codes.Wallet,
			"Cannot import public P2MR descriptor: BIP32 extended public keys cannot derive "+
				"SPHINCS+/P2MR public keys. Use exportpubkeydb/importpubkeydb for watch-only P2MR tracking.")
	}
	if !expands(d) {
		return codes.Errorf(codes.Wallet,
			"Cannot expand descriptor. Probably because of hardened derivations without private keys provided")
	}
	if !r.flags.Has(walletfile.DisablePrivateKeys) {
		if !d.HasPrivateKeys() {
			return codes.Errorf(codes.Wallet,
				"Cannot import descriptor without private keys to a wallet with private keys enabled")
		}
		if !d.HasAllPrivateKeys() {
			r.warn("Not all private keys provided. Some wallet functionality may return unexpected errors")
		}
	}
	m, err := r.store(d, internal)
	if err != nil {
		return codes.Errorf(codes.Wallet, "Could not add descriptor '%s': %s", r.item.Desc, err.Error())
	}
	r.warnOfRange(m, internal)
	r.setActive(m, internal)
	return nil
}

// warnOfRange tells of a range that has become longer than it was given, where qbit does.
func (r *importing) warnOfRange(m *descriptorManager, internal bool) {
	if _, ok := m.slot(internal); !ok || !r.set.params.Kinds.SlowKeys || !r.item.Active || !r.hasRange() ||
		m.record.RangeEnd <= r.end {
		return
	}
	side := "external"
	if internal {
		side = "internal"
	}
	r.warn(fmt.Sprintf("Requested active %s descriptor range [%d,%d] was expanded to effective range [%d,%d] to "+
		"satisfy wallet keypool lookahead", side, r.start, r.end-1, r.start, m.record.RangeEnd-1))
}

// expands reports whether a descriptor has scripts. Those of keys of P2MR, which
// take milliseconds, it has if their private keys can be derived.
func expands(d *descriptor.Descriptor) bool {
	if d.HasP2MRSource() {
		_, err := d.CacheEntries(0, 0)
		return err == nil
	}
	_, err := d.Expand(0)
	return err == nil
}

// checkP2MR checks what the network allows.
func (r *importing) checkP2MR() *messages.WalletError {
	for _, d := range r.branches {
		if err := d.CheckAllowed("Imported"); err != nil {
			return codes.Errorf(codes.AddressOrKey, "%s", err.Error())
		}
		if satisfiable, isP2MR := d.P2MRSatisfiable(); satisfiable || !isP2MR || !d.IsSolvable() {
			continue
		}
		if r.item.Active {
			return codes.Errorf(codes.Wallet,
				"Cannot activate P2MR descriptor without a wallet-constructible satisfaction; "+
					"multi_a thresholds must not exceed %d", p2mr.MaxSignatures)
		}
		r.warn(fmt.Sprintf("Imported inactive P2MR descriptor has no wallet-constructible satisfaction; "+
			"multi_a thresholds above %d cannot be finalized", p2mr.MaxSignatures))
	}
	return nil
}

// store takes the descriptor into the wallet, or brings the one that is there up
// to date.
func (r *importing) store(d *descriptor.Descriptor, internal bool) (*descriptorManager, error) {
	m, err := r.managerOf(d)
	if err != nil {
		return nil, err
	}
	r.vault.AddKeys(m.id(), d.PrivateKeys())
	if err := r.pool.topUp(m, 0); err != nil || m.wanted > 0 {
		return nil, errTopUp
	}
	if d.IsRanged() || internal {
		return m, nil
	}
	scripts, err := m.desc.Expand(0)
	if err != nil {
		return nil, errTopUp
	}
	label := ""
	if r.item.Label != nil {
		label = *r.item.Label
	}
	for _, pkScript := range scripts {
		if book.DestinationOf(r.set.params.Network, pkScript) != "" {
			r.set.labels.SetLabel(pkScript, label, book.PurposeReceive)
		}
	}
	return m, nil
}

// managerOf returns the descriptor of the wallet with the range of the import: a
// new one, or the one that is there.
func (r *importing) managerOf(d *descriptor.Descriptor) (*descriptorManager, error) {
	public, err := descriptor.Parse(d.String(), r.set.params.Network, descriptor.Options{})
	if err != nil {
		return nil, err
	}
	fresh := newManager(public[0], uint64(r.created))
	fresh.record.RangeStart, fresh.record.RangeEnd, fresh.record.NextIndex = r.start, r.end, r.next
	old := r.set.byID[fresh.id()]
	if old == nil {
		r.set.add(fresh)
		return fresh, nil
	}
	if d.IsRanged() && (r.start > old.record.RangeStart || r.end < old.record.RangeEnd) {
		return nil, fmt.Errorf("new range must include current range = [%d,%d]",
			old.record.RangeStart, old.record.RangeEnd-1)
	}
	fresh.cache.slow = old.cache.slow // the same keys, and they take long
	old.record, old.desc, old.cache = fresh.record, fresh.desc, fresh.cache
	old.normal, old.lastDerived = "", -1
	r.set.birth = min(r.set.birth, r.created)
	if old.wasActive {
		r.set.birthAt(r.created)
	}
	return old, nil
}

// setActive makes the descriptor the active one of its type, or no longer.
func (r *importing) setActive(m *descriptorManager, internal bool) {
	slot, ok := m.slot(internal)
	switch {
	case r.item.Active && !ok:
		r.warn("Unknown output type, cannot set descriptor to active.")
	case r.item.Active:
		r.set.activate(m, slot)
	case ok:
		r.set.deactivate(m, slot)
	}
}
