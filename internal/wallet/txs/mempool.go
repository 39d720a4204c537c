package txs

import (
	"maps"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// UseMempool notes what transactions in the mempool pay to as used, before
// [Ledger.AddMempoolTx] takes them in one by one.
func UseMempool(l *Ledger, transactions []*wire.MsgTx) { use(l, transactions) }

// AddMempoolTx notes that a transaction is in the mempool. A transaction that the wallet
// knows to be confirmed, or to be in conflict with a block, has left it since.
func (l *Ledger) AddMempoolTx(transaction *wire.MsgTx, now int64) Synced {
	id := transaction.TxHash()
	if t := l.txs[id]; t != nil && t.state.kind == confirmed {
		return Synced{}
	}
	known := len(l.cfg.Owner.Scripts())
	use(l, []*wire.MsgTx{transaction})
	if block := conflictingBlock(l, transaction, id); block != nil {
		concerned := l.sync(transaction, sync{state: state{kind: conflicted, block: *block}, now: now}) != foreignTx
		if concerned {
			markSpenders(l, l.txs[id])
		}
		return Synced{Changed: concerned, Scripts: l.cfg.Owner.Scripts()[known:]}
	}
	concerned := l.sync(transaction, sync{state: state{kind: inMempool}, now: now}) != foreignTx
	conflict := func(t *tx) bool {
		if t.conflicts[id] {
			return false
		}
		if t.conflicts == nil {
			t.conflicts = make(map[chainhash.Hash]bool)
		}
		t.conflicts[id] = true
		return true
	}
	l.againstMempool(transaction, id, conflict)
	againstSiblings(l, transaction, id, conflict, func(parent *tx) bool {
		return parent.state.kind == inMempool || parent.state.kind == inactive
	})
	return Synced{Changed: concerned, Scripts: l.cfg.Owner.Scripts()[known:]}
}

// RemoveMempoolTx notes that a transaction has left the mempool, and not because
// a block holds it.
func (l *Ledger) RemoveMempoolTx(transaction *wire.MsgTx) Synced {
	t := l.txs[transaction.TxHash()]
	changed := t != nil && t.state.kind == inMempool
	if changed {
		l.setState(t, state{})
	}
	l.leaveMempool(transaction)
	return Synced{Changed: changed}
}

// ClearMempool notes that there is nothing in the mempool.
func (l *Ledger) ClearMempool() {
	for t := range maps.Clone(l.states.pool) {
		l.setState(t, state{})
	}
	for _, t := range l.history.ordered {
		if len(t.conflicts) > 0 {
			t.conflicts = nil
			l.refreshSpent(t)
		}
	}
}

// leaveMempool forgets what a transaction in the mempool was in conflict with.
func (l *Ledger) leaveMempool(transaction *wire.MsgTx) {
	id := transaction.TxHash()
	forget := func(t *tx) bool {
		if !t.conflicts[id] {
			return false
		}
		delete(t.conflicts, id)
		return true
	}
	l.againstMempool(transaction, id, forget)
	againstSiblings(l, transaction, id, forget, func(*tx) bool { return true })
}

// trucVersion is the version of transactions of which only one may spend an unconfirmed
// one (BIP431).
const trucVersion = 3

// againstSiblings changes, for a transaction of version 3, what spends from its parents
// beside it: the mempool cannot have both. of says which parents count.
func againstSiblings(
	l *Ledger, transaction *wire.MsgTx, id chainhash.Hash, change func(*tx) bool, of func(parent *tx) bool,
) {
	if transaction.Version != trucVersion {
		return
	}
	for _, in := range transaction.TxIn {
		parent := l.txs[in.PreviousOutPoint.Hash]
		if parent == nil || !of(parent) {
			continue
		}
		l.spends.spenders(parent, func(t *tx) {
			if t.record.ID == id {
				return
			}
			l.spends.descend(t, func(t *tx) bool {
				if !change(t) {
					return false
				}
				l.refreshSpent(t)
				return true
			})
		})
	}
}

// againstMempool changes the transactions that spend the same outputs as
// another, with their descendants. The file has nothing of these changes.
func (l *Ledger) againstMempool(transaction *wire.MsgTx, id chainhash.Hash, change func(*tx) bool) {
	l.spends.against(transaction, id, func(t *tx) bool {
		if !change(t) {
			return false
		}
		l.refreshSpent(t)
		return true
	})
}
