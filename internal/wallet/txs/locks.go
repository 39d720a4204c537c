package txs

import (
	"cmp"
	"maps"
	"slices"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// Locks are coins that are kept from being spent, and from being listed as
// unspent.
type Locks struct {
	log    *records.Log
	locked map[wire.OutPoint]bool // true: in the file
}

func newLocks(log *records.Log) *Locks {
	return &Locks{log: log, locked: make(map[wire.OutPoint]bool)}
}

// Has reports whether a coin is locked.
func (k *Locks) Has(at wire.OutPoint) bool {
	_, locked := k.locked[at]
	return locked
}

// Lock locks a coin: in the file too if persist is set.
func (k *Locks) Lock(at wire.OutPoint, persist bool) {
	k.locked[at] = k.locked[at] || persist
	if persist {
		k.log.Put(walletfile.LockedOutput(at))
	}
}

// Unlock undoes [Locks.Lock].
func (k *Locks) Unlock(at wire.OutPoint) {
	if k.locked[at] {
		k.log.Remove(walletfile.LockedOutput(at).Key())
	}
	delete(k.locked, at)
}

// List returns the coins that are locked, by transaction and index.
func (k *Locks) List() []wire.OutPoint {
	return slices.SortedFunc(maps.Keys(k.locked), func(a, b wire.OutPoint) int {
		return cmp.Or(slices.Compare(a.Hash[:], b.Hash[:]), cmp.Compare(a.Index, b.Index))
	})
}
