package wallet

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// Open takes over a wallet that was loaded, whose content must not be used
// afterwards but for wiping it. clean tells that nothing was found wrong with
// the file; only then is mended what old versions left: their version, the order
// of transactions, the caches, and master keys that nothing uses.
//
// The key pools are topped up as far as that is possible. Transactions in blocks
// that the chain does not have are unconfirmed. The tip is to be set next.
//
// Errors: [walletfile.ErrCorrupt].
func Open(content *walletfile.Wallet, clean bool, p Params, chain Chain) (*Wallet, error) {
	w := newWallet(p)
	w.flags = records.NewFlags(content.Flags, &w.log)
	w.orderPosNext, w.bestBlock = content.OrderPosNext, content.BestBlock
	w.misfiled = content.Misfiled
	w.masterKeys = maps.Clone(content.MasterKeys)
	for _, at := range content.Locked {
		w.locked[at] = true
	}
	w.book.Load(content.Addresses)
	if err := w.loadSources(content); err != nil {
		return nil, err
	}
	w.loadTxs(content.Txs, chain)
	w.book.EndLoading()
	if clean {
		w.mend(content)
	}
	w.loadPubKeys(content)
	if !w.Deferring() {
		for _, s := range w.activeSources() {
			_ = w.topUp(s, 0) // of a locked wallet as far as it goes
		}
	}
	w.chooseDefaultType()
	w.settleActive()
	return w, nil
}

// loadSources takes over the descriptors, with the scripts of their ranges.
func (w *Wallet) loadSources(content *walletfile.Wallet) error {
	for _, d := range content.Descriptors {
		s := loadedSource(d)
		s.deferred = w.isDeferred(s)
		w.addSource(s)
		if s.record.RangeStart < s.record.RangeEnd {
			if err := w.derive(s, s.record.RangeStart, s.record.RangeEnd-1); err != nil {
				return fmt.Errorf("%w: descriptor %v: %w", walletfile.ErrCorrupt, s.id(), err)
			}
			s.lastDerived = s.record.RangeEnd - s.record.RangeStart - 1
		}
	}
	for slot, id := range content.Active {
		if s := w.byID[id]; s != nil {
			w.active[slot] = s
		}
	}
	return nil
}

// loadTxs takes over the transactions.
func (w *Wallet) loadTxs(records []*walletfile.Tx, chain Chain) {
	inOrder := slices.SortedStableFunc(slices.Values(records), func(a, b *walletfile.Tx) int {
		return cmp.Compare(a.OrderPos, b.OrderPos)
	})
	w.ordered = make([]*tx, 0, len(records))
	for _, record := range inOrder {
		w.ordered = append(w.ordered, w.addTx(record, loadedState(record.State, chain)))
	}
	for _, t := range w.ordered {
		if t.coinbase() && t.state.kind == inactive {
			t.state.kind = abandoned
		}
		if !t.coinbase() {
			w.loadSpends(t)
		}
		w.bornBy(t.time())
	}
	for _, t := range w.ordered {
		for _, out := range t.outs {
			w.refresh(out)
			w.notePaid(out.script)
		}
	}
}

// loadSpends notes what a transaction from the file spends.
func (w *Wallet) loadSpends(t *tx) {
	for _, in := range t.record.Tx.TxIn {
		at := in.PreviousOutPoint
		w.spends[at] = append(w.spends[at], t)
		if len(w.spends[at]) > 1 {
			copyNotes(w.spends[at])
		}
	}
}

// mend brings a file of an old version up to date.
func (w *Wallet) mend(content *walletfile.Wallet) {
	if content.Version == nil || *content.Version != w.params.Version {
		w.log.Put(w.params.Version)
	}
	if content.Unordered() {
		w.reorder()
	}
	w.completeCaches()
	if w.flags.Has(walletfile.DisablePrivateKeys) && !w.hasCryptedKeys() {
		for id, key := range w.masterKeys {
			w.log.Remove(key.Key())
			delete(w.masterKeys, id)
		}
	}
}

func (w *Wallet) hasCryptedKeys() bool {
	return slices.ContainsFunc(w.sources, func(s *source) bool { return len(s.crypted) > 0 || s.pqcEncrypted() })
}

// reorder gives a place to the transactions that have none, by the time at which
// they were received. Those after them move up.
func (w *Wallet) reorder() {
	w.orderPosNext = 0
	var inserted []int64
	byTime := slices.SortedStableFunc(slices.Values(w.ordered), func(a, b *tx) int {
		return cmp.Compare(a.record.TimeReceived, b.record.TimeReceived)
	})
	for _, t := range byTime {
		pos := &t.record.OrderPos
		if *pos == walletfile.NoOrderPos {
			*pos = w.orderPosNext
			w.orderPosNext++
			inserted = append(inserted, *pos)
			w.writeTx(t)
			continue
		}
		moved := int64(0)
		for _, start := range inserted {
			if *pos >= start {
				moved++
			}
		}
		*pos += moved
		w.orderPosNext = max(w.orderPosNext, *pos+1)
		if moved > 0 {
			w.writeTx(t)
		}
	}
	w.log.Put(walletfile.OrderPosNext(w.orderPosNext))
	slices.SortStableFunc(w.ordered, func(a, b *tx) int { return cmp.Compare(a.record.OrderPos, b.record.OrderPos) })
}

// FirstRun reports whether a wallet has no descriptors although it should: the
// caller then makes them with [Wallet.Setup], as after creating one.
func (w *Wallet) FirstRun() bool {
	return len(w.sources) == 0 && w.flags.Value()&(walletfile.DisablePrivateKeys|walletfile.Blank) == 0
}
