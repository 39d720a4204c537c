package txs

import (
	"cmp"
	"slices"

	"github.com/seed61375155/trawl/internal/walletfile"
)

// Load takes over what the file says of transactions. Transactions in blocks that the chain
// does not have are unconfirmed, and coinbases of such blocks are given up. Unconfirmed
// transactions that a block keeps from being confirmed are in conflict with this block.
func (l *Ledger) Load(content *walletfile.Wallet, chain Chain) {
	l.history.next, l.bestBlock, l.wrongIDs = content.OrderPosNext, content.BestBlock, content.WrongIDs
	for _, at := range content.Locked {
		l.locks.locked[at] = true
	}
	inOrder := slices.SortedStableFunc(slices.Values(content.Txs), func(a, b *walletfile.Tx) int {
		return cmp.Compare(a.OrderPos, b.OrderPos)
	})
	ordered := make([]*tx, 0, len(inOrder))
	for _, record := range inOrder {
		ordered = append(ordered, l.addTx(record, loadedState(record.State, chain)))
	}
	l.history.ordered = ordered
	for _, t := range ordered {
		if !t.coinbase() {
			l.spends.add(t)
		}
		l.birth = min(l.birth, t.time())
	}
	for _, t := range ordered {
		for _, out := range t.outs {
			l.refresh(out)
			l.payees.notePaid(out.to)
		}
	}
	for _, t := range ordered {
		switch {
		case t.coinbase() && t.state.kind == inactive:
			abandon(l, t)
		case t.record.NotesInside():
			l.writeTx(t)
		}
	}
	markLoaded(l)
}

// Reorder gives a place to the transactions that have none, as old versions left
// them, by the time at which they were received.
func (l *Ledger) Reorder() {
	for _, t := range l.history.reorder() {
		l.writeTx(t)
	}
	l.log.Put(walletfile.OrderPosNext(l.history.next))
}
