package txs

import (
	"cmp"
	"slices"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// history is the order in which transactions came.
type history struct {
	log     *records.Log
	ordered []*tx // by order position
	next    int64 // position of the next one
}

// newPosition returns the position of a transaction that is new.
func (h *history) newPosition() int64 {
	at := h.next
	h.next++
	h.log.Put(walletfile.OrderPosNext(h.next))
	return at
}

// insert puts a transaction at its position.
func (h *history) insert(t *tx) {
	at, _ := slices.BinarySearchFunc(h.ordered, t.record.OrderPos+1, func(other *tx, pos int64) int {
		return cmp.Compare(other.record.OrderPos, pos)
	})
	h.ordered = slices.Insert(h.ordered, at, t)
}

// tolerance is how far, in seconds, the time of a transaction may be ahead of
// the clock to count for those that come after it.
const tolerance = 300

// smartTime returns a time that orders transactions as they came. It is the time
// of the block, but neither before that of the transaction that came last nor in
// the future. During a rescan it is the highest time of the chain up to the block.
func (h *history) smartTime(record *walletfile.Tx, s sync) uint32 {
	if s.state.kind != confirmed {
		return record.TimeReceived
	}
	if s.rescan {
		return uint32(s.state.block.MaxTime)
	}
	latest := int64(record.TimeReceived)
	var last int64
	for _, t := range slices.Backward(h.ordered) {
		if at := t.time(); at <= latest+tolerance {
			last, latest = at, max(latest, at)
			break
		}
	}
	return uint32(max(last, min(s.state.block.Time, latest)))
}

// unconfirmed returns the transactions that are in no block and that nothing
// speaks against, as far as they came before a time.
func (h *history) unconfirmed(before int64) []*wire.MsgTx {
	var found []*wire.MsgTx
	for _, t := range h.ordered {
		if t.pending() && !t.coinbase() && int64(t.record.TimeReceived) <= before {
			found = append(found, t.record.Tx)
		}
	}
	return found
}

// reorder gives a place to the transactions that have none, by the time at which
// they were received. Later transactions move up. It returns what has moved.
func (h *history) reorder() (moved []*tx) {
	h.next = 0
	var inserted []int64
	byTime := slices.SortedStableFunc(slices.Values(h.ordered), func(a, b *tx) int {
		return cmp.Compare(a.record.TimeReceived, b.record.TimeReceived)
	})
	for _, t := range byTime {
		pos := &t.record.OrderPos
		if *pos == walletfile.NoOrderPos {
			*pos = h.next
			h.next++
			inserted = append(inserted, *pos)
			moved = append(moved, t)
			continue
		}
		up := int64(0)
		for _, start := range inserted {
			if *pos >= start {
				up++
			}
		}
		*pos += up
		h.next = max(h.next, *pos+1)
		if up > 0 {
			moved = append(moved, t)
		}
	}
	slices.SortStableFunc(h.ordered, func(a, b *tx) int { return cmp.Compare(a.record.OrderPos, b.record.OrderPos) })
	return moved
}
