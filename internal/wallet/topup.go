package wallet

import (
	"errors"
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
func (w *Wallet) topUp(s *source, size int32) error {
	end := w.poolEnd(s, size)
	if !s.desc.IsRanged() {
		end = 1
		s.record.RangeStart, s.record.RangeEnd = 0, 1
	}
	if s.p2mr() {
		return w.topUpP2MR(s, end)
	}
	if first := s.lastDerived + 1; first < end {
		if err := w.deriveNew(s, first, end-1); err != nil {
			return err
		}
		s.lastDerived = end - 1
	}
	s.record.RangeEnd = end
	w.noteFill(s)
	w.write(s)
	return nil
}

// poolEnd returns where a range ends with size indices ahead of the next.
func (w *Wallet) poolEnd(s *source, size int32) int32 {
	if size == 0 {
		size = w.params.KeyPool
	}
	return int32(min(max(int64(s.record.NextIndex)+int64(size), int64(s.record.RangeEnd)), math.MaxInt32))
}

// deriveNew derives scripts. Where the cache lacks what they need it is completed
// first.
func (w *Wallet) deriveNew(s *source, first, last int32) error {
	if len(s.cache.keys) > 0 {
		err := w.derive(s, first, last)
		if !errors.Is(err, descriptor.ErrNeedsPrivateKey) {
			return err
		}
	}
	if err := w.fillCache(s, first, last); err != nil {
		return err
	}
	return w.derive(s, first, last)
}

// fillCache puts into the cache, and into the file, what the indices need.
func (w *Wallet) fillCache(s *source, first, last int32) error {
	full, err := w.withPrivateKeys(s)
	if err != nil {
		return err
	}
	defer full.Wipe()
	entries, err := full.CacheEntries(uint32(first), uint32(last))
	if err != nil {
		return err
	}
	added, err := s.cache.merge(entries)
	for _, e := range added {
		w.log.Put(cacheRecord(s.id(), e))
	}
	return err
}

// derive makes the scripts of some indices the wallet's.
func (w *Wallet) derive(s *source, first, last int32) error {
	if int64(last)-int64(first) >= maxIndices {
		return errRange
	}
	own := func(index uint32, scripts [][]byte) error {
		for i, pkScript := range scripts {
			derived := w.own(pkScript, owner{source: s, index: int32(index)})
			if i == 0 {
				s.scripts[int32(index)] = derived
			}
		}
		return nil
	}
	for begin := int64(first); begin <= int64(last); begin += descriptor.MaxRange {
		end := min(begin+descriptor.MaxRange-1, int64(last))
		if err := w.eachScript(s, int32(begin), int32(end), own); err != nil {
			return err
		}
	}
	return nil
}

// markUsed notes that a script was used: what comes before it in its
// descriptors is not given out any more. Addresses for receiving enter the
// address book.
func (w *Wallet) markUsed(used *script) {
	for _, by := range used.owners {
		s := by.source
		first := s.record.NextIndex
		if by.index >= first {
			s.record.NextIndex = by.index + 1
		}
		if active, internal := w.isActive(s); active && !internal {
			w.bookReceiving(s, first, s.record.NextIndex)
		}
		if s.deferred {
			w.write(s) // the rest of the pool comes later
			continue
		}
		// A failure means that the wallet is locked. The pool is topped up
		// when it is unlocked.
		_ = w.topUp(s, 0)
	}
}

// bookReceiving notes addresses in the address book as given out.
func (w *Wallet) bookReceiving(s *source, from, to int32) {
	for index := from; index < to; index++ {
		if given := s.scripts[index]; given != nil && w.book.Label(given.dest) == nil {
			w.book.SetLabel(given.bytes, "", book.PurposeReceive)
		}
	}
}

// RefillKeyPool derives addresses ahead, the given number of them or, for 0, as
// many as the key pool holds.
//
// Errors: [*messages.WalletError].
func (w *Wallet) RefillKeyPool(size int) error {
	if err := w.needUnlocked(); err != nil {
		return err
	}
	total := 0
	for _, s := range w.activeSources() {
		if size <= maxIndices {
			_ = w.topUp(s, int32(size))
		}
		total += s.poolSize()
	}
	if total < size {
		return codes.Errorf(codes.Wallet, "Error refreshing keypool.")
	}
	return nil
}
