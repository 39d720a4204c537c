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
	notes      descriptor.Annotations
	start, end int32 // range, the end not included
	next       int32
}

func (r *importing) warn(text string) { r.warnings = append(r.warnings, text) }

// run checks in Core's order, then adds the branches: all of them, or none.
func (r *importing) run() *messages.WalletError {
	for _, step := range []func() *messages.WalletError{
		r.parse, r.checkRange, r.checkNext, r.checkUse, r.checkLabel, r.checkKeys,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	all := make([]*staged, len(r.branches))
	for i, d := range r.branches {
		internal := r.item.Internal != nil && *r.item.Internal
		if len(r.branches) == 2 {
			internal = i == 1
		}
		var err *messages.WalletError
		if all[i], err = r.stage(d, internal); err != nil {
			return err
		}
	}
	for _, s := range all {
		r.add(s)
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
	r.branches, err = descriptor.Parse(r.item.Desc, r.set.params.Network, descriptor.Options{
		RequireChecksum: true, Annotations: &r.notes,
	})
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
	case r.notes.GapLimit != nil && *r.notes.GapLimit > maxAhead:
		return codes.Errorf(codes.Parameter, "gl of a descriptor must not be above %d", maxAhead)
	case !r.hasRange():
		r.end = (&descriptorManager{notes: r.notes}).ahead(r.set.params.KeyPool)
		if r.end > r.set.params.KeyPool {
			r.warn("Range not given, using the gap limit of the descriptor")
		} else {
			r.warn("Range not given, using default keypool range")
		}
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
	ranged, internal := r.ranged(), r.item.Internal != nil && *r.item.Internal
	if r.set.params.Kinds.Answers.InternalUnlabelled {
		ranged, internal = r.hasRange(), r.item.Internal != nil
	}
	switch {
	case len(r.branches) > 1:
		return codes.Errorf(codes.Parameter, "Multipath descriptors should not have a label")
	case ranged:
		return codes.Errorf(codes.Parameter, "Ranged descriptors should not have a label")
	case internal:
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

// add takes a branch in.
func (r *importing) add(s *staged) {
	r.warnings = append(r.warnings, s.warnings...)
	m := r.store(s)
	annotate(r.set, m, r.notes)
	r.setLabel(s, m)
	r.warnOfRange(m, s.internal)
	r.setActive(m, s.internal)
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

// expands reports whether a descriptor has scripts. Scripts of P2MR keys take
// milliseconds: a descriptor has them if their private keys can be derived.
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

// setLabel gives the addresses of a descriptor without a range their label.
func (r *importing) setLabel(s *staged, m *descriptorManager) {
	if s.desc.IsRanged() || s.internal {
		return
	}
	label := ""
	if r.item.Label != nil {
		label = *r.item.Label
	}
	for _, pkScript := range s.addresses(m) {
		if book.DestinationOf(r.set.params.Network, pkScript) != "" {
			r.set.labels.SetLabel(pkScript, label, book.PurposeReceive)
		}
	}
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
