package wallet

import (
	"fmt"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// ImportTimes are the times of the tip: that of its header, and the median time
// of the last blocks, which stands for now.
type ImportTimes struct{ Tip, Median int64 }

// Imported is what became of an import.
type Imported struct {
	Results []messages.ImportResult // one for each descriptor, in order

	// Rescan is set when at least one was imported. The chain must be looked
	// through again from the first block whose MaxTime is not below From, less
	// two hours.
	Rescan bool
	From   int64
}

// Import adds descriptors to the wallet, each on its own. With the last of them
// [Wallet.EndImport] is called.
//
// Errors: [*messages.WalletError] if it is locked.
func (w *Wallet) Import(items []messages.ImportItem, times ImportTimes) (Imported, error) {
	if err := w.needUnlocked(); err != nil {
		return Imported{}, err
	}
	done := Imported{From: times.Tip, Results: make([]messages.ImportResult, len(items))}
	for i := range items {
		created := items[i].Timestamp
		if created == messages.NowTimestamp {
			created = times.Median
		}
		created = max(created, 1)
		done.From = min(done.From, created)
		m := &importer{wallet: w, item: &items[i], created: created}
		done.Results[i] = messages.ImportResult{Err: m.run(), Warnings: m.warnings}
		if len(m.branches) > 0 {
			m.branches[0].Wipe() // the wallet has the keys now
		}
		done.Rescan = done.Rescan || done.Results[i].Err == nil
	}
	return done, nil
}

// EndImport ends an import that was handed over piece by piece.
func (w *Wallet) EndImport() { w.settleActive() }

// importer adds one descriptor, which may have several branches.
type importer struct {
	wallet   *Wallet
	item     *messages.ImportItem
	created  int64
	warnings []string

	branches   []*descriptor.Descriptor
	start, end int32 // range, the end not included
	next       int32
}

func (m *importer) warn(text string) { m.warnings = append(m.warnings, text) }

// run checks in Core's order, then adds the branches one by one. What was added
// before one fails stays.
func (m *importer) run() *messages.WalletError {
	for _, step := range []func() *messages.WalletError{
		m.parse, m.checkRange, m.checkNext, m.checkUse, m.checkLabel, m.checkKeys,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	for i, d := range m.branches {
		internal := m.item.Internal != nil && *m.item.Internal
		if len(m.branches) == 2 {
			internal = i == 1
		}
		if err := m.add(d, internal); err != nil {
			return err
		}
	}
	return nil
}

func (m *importer) parse() *messages.WalletError {
	if m.item.NoDesc {
		return codes.Errorf(codes.Parameter, "Descriptor not found.")
	}
	if m.item.Label != nil {
		if err := book.CheckLabel(*m.item.Label); err != nil {
			return err
		}
	}
	var err error
	m.branches, err = descriptor.Parse(m.item.Desc, m.wallet.params.Network, descriptor.Options{RequireChecksum: true})
	if err != nil {
		return codes.Errorf(codes.AddressOrKey, "%s", err.Error())
	}
	if err := m.checkP2MR(); err != nil {
		return err
	}
	if m.item.Internal != nil && len(m.branches) > 1 {
		return codes.Errorf(codes.AddressOrKey, "Cannot have multipath descriptor while also specifying 'internal'")
	}
	return nil
}

func (m *importer) ranged() bool { return m.branches[0].IsRanged() }

func (m *importer) hasRange() bool { return m.item.Range != nil || m.item.RangeErr != nil }

func (m *importer) checkRange() *messages.WalletError {
	m.start, m.end = 0, 1
	switch {
	case !m.ranged() && m.hasRange():
		return codes.Errorf(codes.Parameter, "Range should not be specified for an un-ranged descriptor")
	case !m.ranged():
		return nil
	case !m.hasRange():
		m.warn("Range not given, using default keypool range")
		m.end = m.wallet.params.KeyPool
		return nil
	case m.item.RangeErr != nil:
		return codes.Errorf(codes.Parameter, "%s", m.item.RangeErr.Error())
	}
	begin, end := m.item.Range[0], m.item.Range[1]
	if err := descriptor.CheckRange(begin, end); err != nil {
		return codes.Errorf(codes.Parameter, "%s", err.Error())
	}
	if end == descriptor.MaxIndex { // one more does not fit into the file
		return codes.Errorf(codes.Parameter, "%s", descriptor.ErrRangeEnd.Error())
	}
	m.start, m.end = int32(begin), int32(end)+1
	return nil
}

func (m *importer) checkNext() *messages.WalletError {
	if !m.ranged() {
		return nil
	}
	m.next = m.start
	if next := m.item.NextIndex; next != nil {
		if *next < int64(m.start) || *next >= int64(m.end) {
			return codes.Errorf(codes.Parameter, "next_index is out of range")
		}
		m.next = int32(*next)
	}
	return nil
}

func (m *importer) checkUse() *messages.WalletError {
	if m.item.Active && !m.ranged() {
		return codes.Errorf(codes.Parameter, "Active descriptors must be ranged")
	}
	return nil
}

func (m *importer) checkLabel() *messages.WalletError {
	if m.item.Label == nil {
		return nil
	}
	switch {
	case len(m.branches) > 1:
		return codes.Errorf(codes.Parameter, "Multipath descriptors should not have a label")
	case m.hasRange():
		return codes.Errorf(codes.Parameter, "Ranged descriptors should not have a label")
	case m.item.Internal != nil:
		return codes.Errorf(codes.Parameter, "Internal addresses should not have a label")
	}
	return nil
}

func (m *importer) checkKeys() *messages.WalletError {
	if m.item.Active && !m.branches[0].IsSingleType() {
		return codes.Errorf(codes.Wallet, "Combo descriptors cannot be set to active")
	}
	if m.wallet.flags.Has(walletfile.DisablePrivateKeys) && m.branches[0].HasPrivateKeys() {
		return codes.Errorf(codes.Wallet, "Cannot import private keys to a wallet with private keys disabled")
	}
	return nil
}

// add adds one branch.
func (m *importer) add(d *descriptor.Descriptor, internal bool) *messages.WalletError {
	if d.HasP2MRSource() && !d.HasPrivateKeys() {
		return codes.Errorf(codes.Wallet,
			"Cannot import public P2MR descriptor: BIP32 extended public keys cannot derive "+
				"SPHINCS+/P2MR public keys. Use exportpubkeydb/importpubkeydb for watch-only P2MR tracking.")
	}
	if !expands(d) {
		return codes.Errorf(codes.Wallet,
			"Cannot expand descriptor. Probably because of hardened derivations without private keys provided")
	}
	if !m.wallet.flags.Has(walletfile.DisablePrivateKeys) {
		if !d.HasPrivateKeys() {
			return codes.Errorf(codes.Wallet,
				"Cannot import descriptor without private keys to a wallet with private keys enabled")
		}
		if !d.HasAllPrivateKeys() {
			m.warn("Not all private keys provided. Some wallet functionality may return unexpected errors")
		}
	}
	s, err := m.store(d, internal)
	if err != nil {
		return codes.Errorf(codes.Wallet, "Could not add descriptor '%s': %s", m.item.Desc, err.Error())
	}
	m.setActive(s, internal)
	return nil
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
func (m *importer) checkP2MR() *messages.WalletError {
	for _, d := range m.branches {
		if err := d.CheckAllowed("Imported"); err != nil {
			return codes.Errorf(codes.AddressOrKey, "%s", err.Error())
		}
		if satisfiable, isP2MR := d.P2MRSatisfiable(); satisfiable || !isP2MR || !d.IsSolvable() {
			continue
		}
		if m.item.Active {
			return codes.Errorf(codes.Wallet,
				"Cannot activate P2MR descriptor without a wallet-constructible satisfaction; "+
					"multi_a thresholds must not exceed %d", p2mr.MaxSignatures)
		}
		m.warn(fmt.Sprintf("Imported inactive P2MR descriptor has no wallet-constructible satisfaction; "+
			"multi_a thresholds above %d cannot be finalized", p2mr.MaxSignatures))
	}
	return nil
}

// store takes the descriptor into the wallet, or brings the one that is there up
// to date.
func (m *importer) store(d *descriptor.Descriptor, internal bool) (*source, error) {
	w := m.wallet
	s, err := m.sourceOf(d)
	if err != nil {
		return nil, err
	}
	w.addKeys(s, d.PrivateKeys())
	if err := w.topUp(s, 0); err != nil || s.wanted > 0 {
		return nil, errTopUp
	}
	if d.IsRanged() || internal {
		return s, nil
	}
	scripts, err := s.desc.Expand(0)
	if err != nil {
		return nil, errTopUp
	}
	label := ""
	if m.item.Label != nil {
		label = *m.item.Label
	}
	for _, pkScript := range scripts {
		if book.DestinationOf(w.params.Network, pkScript) != "" {
			w.book.SetLabel(pkScript, label, book.PurposeReceive)
		}
	}
	return s, nil
}

// sourceOf returns the descriptor of the wallet with the range of the import: a
// new one, or the one that is there.
func (m *importer) sourceOf(d *descriptor.Descriptor) (*source, error) {
	w := m.wallet
	public, err := descriptor.Parse(d.String(), w.params.Network, descriptor.Options{})
	if err != nil {
		return nil, err
	}
	fresh := newSource(public[0], uint64(m.created))
	fresh.record.RangeStart, fresh.record.RangeEnd, fresh.record.NextIndex = m.start, m.end, m.next
	old := w.byID[fresh.id()]
	if old == nil {
		w.addSource(fresh)
		return fresh, nil
	}
	if d.IsRanged() && (m.start > old.record.RangeStart || m.end < old.record.RangeEnd) {
		return nil, fmt.Errorf("new range must include current range = [%d,%d]",
			old.record.RangeStart, old.record.RangeEnd-1)
	}
	fresh.cache.p2mr = old.cache.p2mr // the same keys, and they take long
	old.record, old.desc, old.cache = fresh.record, fresh.desc, fresh.cache
	old.normal, old.lastDerived = "", -1
	w.birth = min(w.birth, m.created)
	if old.settled {
		w.bornBy(m.created)
	}
	return old, nil
}

// setActive makes the descriptor the active one of its type, or no longer.
func (m *importer) setActive(s *source, internal bool) {
	slot, ok := s.slot(internal)
	switch {
	case m.item.Active && !ok:
		m.warn("Unknown output type, cannot set descriptor to active.")
	case m.item.Active:
		m.wallet.activate(s, slot)
	case ok:
		m.wallet.deactivate(s, slot)
	}
}
