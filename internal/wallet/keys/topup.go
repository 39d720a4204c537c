package keys

import (
	"errors"
	"fmt"
	"math"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/codes"
)

// errRange reports a range that is too large to be derived.
var errRange = errors.New("range is too large")

// errTopUp says in the words of Core that scripts cannot be derived.
var errTopUp = errors.New("Could not top up scriptPubKeys") //nolint:staticcheck // Core's text

// maxIndices bounds the range of one descriptor.
const maxIndices = 4 * descriptor.MaxRange

// topUp derives a descriptor's scripts until size of them are ahead of the next
// index; 0 stands for the wallet's key pool. It fails where private keys are
// needed and the wallet is locked or watches only.
func (p *Pool) topUp(m *descriptorManager, size int32) error {
	return topUpTo(p, m, p.poolEnd(m, size))
}

// topUpTo is topUp for a range that has to end at end, or later.
func topUpTo(p *Pool, m *descriptorManager, end int32) error {
	end = max(end, p.gap.end(m))
	if !m.desc.IsRanged() {
		m.record.RangeStart, m.record.RangeEnd = 0, 1
	}
	if m.slow() {
		return p.topUpSlow(m, end)
	}
	if first := m.lastDerived + 1; first < end {
		if err := p.deriveNew(m, first, end-1); err != nil {
			return err
		}
		m.lastDerived = end - 1
	}
	m.record.RangeEnd = end
	p.noteFill(m)
	p.set.write(m)
	return nil
}

// poolEnd returns where a range ends with size indices ahead of the next.
func (p *Pool) poolEnd(m *descriptorManager, size int32) int32 {
	if !m.desc.IsRanged() {
		return 1
	}
	if size == 0 {
		size = m.ahead(p.set.params.KeyPool)
	}
	return int32(min(max(int64(m.record.NextIndex)+int64(size), int64(m.record.RangeEnd)), math.MaxInt32))
}

// deriveNew derives scripts. Where the cache lacks what they need it is completed
// first.
func (p *Pool) deriveNew(m *descriptorManager, first, last int32) error {
	if len(m.cache.keys) > 0 {
		err := p.derive(m, first, last)
		if !errors.Is(err, descriptor.ErrNeedsPrivateKey) {
			return err
		}
	}
	if err := p.fillCache(m, first, last); err != nil {
		return err
	}
	return p.derive(m, first, last)
}

// fillCache puts into the cache, and into the file, what the indices need.
func (p *Pool) fillCache(m *descriptorManager, first, last int32) error {
	full, err := p.set.withPrivateKeys(m)
	if err != nil {
		return err
	}
	defer full.Wipe()
	entries, err := full.CacheEntries(uint32(first), uint32(last))
	if err != nil {
		return err
	}
	added, err := m.cache.merge(entries)
	for _, e := range added {
		p.log.Put(cacheRecord(m.id(), e))
	}
	return err
}

// derive makes the scripts of some indices the wallet's.
func (p *Pool) derive(m *descriptorManager, first, last int32) error {
	return p.expand(m, first, last, func(index uint32, scripts [][]byte) error {
		p.own(m, int32(index), scripts)
		return nil
	})
}

// own makes the scripts of an index the wallet's.
func (p *Pool) own(m *descriptorManager, index int32, scripts [][]byte) {
	for i, pkScript := range scripts {
		derived := p.set.addScript(pkScript, owner{manager: m, index: index})
		if i == 0 {
			m.scripts[index] = derived
		}
	}
}

// expand visits the scripts of some indices.
func (p *Pool) expand(
	m *descriptorManager, first, last int32, visit func(index uint32, scripts [][]byte) error,
) error {
	if int64(last)-int64(first) >= maxIndices {
		return errRange
	}
	for begin := int64(first); begin <= int64(last); begin += descriptor.MaxRange {
		end := min(begin+descriptor.MaxRange-1, int64(last))
		if err := p.eachScript(m, int32(begin), int32(end), visit); err != nil {
			return err
		}
	}
	return nil
}

// Used notes that an own script was used: what comes before it in its descriptors
// is not given out any more. Addresses for receiving enter the address book. The
// key pool is topped up.
func (p *Pool) Used(pkScript []byte) {
	used := p.set.scripts[string(pkScript)]
	if used == nil {
		return
	}
	for _, by := range used.owners {
		m := by.manager
		m.used = max(m.used, by.index)
		first := m.record.NextIndex
		if by.index >= first {
			m.record.NextIndex = by.index + 1
		}
		if active, internal := p.set.isActive(m); active && !internal {
			p.bookReceiving(m, first, m.record.NextIndex)
		}
		if m.deferred { // the rest of the pool comes later
			p.set.write(m)
			if p.gap.short(m) {
				_ = topUpTo(p, m, p.gap.end(m))
			}
			continue
		}
		// A failure means that the wallet is locked. The pool is topped up
		// when it is unlocked.
		_ = p.topUp(m, 0)
	}
}

// bookReceiving notes addresses in the address book as given out.
func (p *Pool) bookReceiving(m *descriptorManager, from, to int32) {
	for index := from; index < to; index++ {
		if given := m.scripts[index]; given != nil && !p.set.listed(given.bytes) {
			p.set.labels.SetLabel(given.bytes, "", book.PurposeReceive)
		}
	}
}

// Refill derives addresses ahead, the given number of them or, for 0, as
// many as the key pool holds.
//
// Errors: [*messages.WalletError].
func (p *Pool) Refill(size int) error {
	if err := p.vault.NeedUnlocked(); err != nil {
		return err
	}
	total := 0
	var short error
	for _, m := range p.set.activeManagers() {
		var why error
		if size <= maxIndices {
			why = p.topUp(m, int32(size))
		}
		total += m.poolSize()
		if short == nil {
			short = shortage(p.set, m, size, why)
		}
	}
	if p.set.params.Kinds.SlowKeys {
		return short
	}
	if total < size {
		return codes.Errorf(codes.Wallet, "Error refreshing keypool.")
	}
	return nil
}

// shortage says, in the words of networks with slow keys, that the pool of an active descriptor could not
// be filled up to size, and why if that is known. It is nil where the pool is full, or is being filled.
func shortage(s *Set, m *descriptorManager, size int, why error) error {
	if size == 0 {
		size = int(s.params.KeyPool)
	}
	left := max(m.poolSize(), 0)
	if why == nil && (left >= size || makeable(s, m)) {
		return nil
	}
	place := "external"
	if _, internal := s.isActive(m); internal {
		place = "internal"
	}
	reason := ""
	if why != nil || m.wanting() {
		reason = fmt.Sprintf(": descriptor expansion failed at index %d; "+
			"private derivation material may be missing or unavailable", m.lastDerived+1)
	}
	return codes.Errorf(codes.Wallet, "Could not top up active %s %v descriptor keypool "+
		"(descriptor id %v, target=%d, remaining=%d)%s", place, m.desc.OutputType(), m.id(), size, left, reason)
}
