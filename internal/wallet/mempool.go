package wallet

import (
	"maps"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// AddMempoolTx notes that a transaction is in the mempool. One that the wallet
// knows to be confirmed has left it since.
func (w *Wallet) AddMempoolTx(transaction *wire.MsgTx, now int64) Synced {
	if t := w.txs[transaction.TxHash()]; t != nil && t.state.kind == confirmed {
		return Synced{}
	}
	known := len(w.mine)
	concerned := w.sync(transaction, sync{state: state{kind: inMempool}, now: now}) != foreignTx
	id := transaction.TxHash()
	w.againstMempool(transaction, func(t *tx) bool {
		if t.conflicts[id] {
			return false
		}
		if t.conflicts == nil {
			t.conflicts = make(map[chainhash.Hash]bool)
		}
		t.conflicts[id] = true
		return true
	})
	return Synced{Changed: concerned, Scripts: w.mine[known:]}
}

// RemoveMempoolTx notes that a transaction has left the mempool, and not because
// a block holds it.
func (w *Wallet) RemoveMempoolTx(transaction *wire.MsgTx) Synced {
	t := w.txs[transaction.TxHash()]
	changed := t != nil && t.state.kind == inMempool
	if changed {
		w.setState(t, state{})
	}
	w.leaveMempool(transaction)
	return Synced{Changed: changed}
}

// ClearMempool notes that there is nothing in the mempool.
func (w *Wallet) ClearMempool() {
	for t := range maps.Clone(w.pool) {
		w.setState(t, state{})
	}
	for _, t := range w.ordered {
		if len(t.conflicts) > 0 {
			t.conflicts = nil
			w.refreshSpent(t)
		}
	}
}

// leaveMempool forgets what a transaction in the mempool was in conflict with.
func (w *Wallet) leaveMempool(transaction *wire.MsgTx) {
	id := transaction.TxHash()
	w.againstMempool(transaction, func(t *tx) bool {
		if !t.conflicts[id] {
			return false
		}
		delete(t.conflicts, id)
		return true
	})
}

// againstMempool changes the transactions that spend what another one spends,
// with all that descends from them. Nothing of that is in the file.
func (w *Wallet) againstMempool(transaction *wire.MsgTx, change func(*tx) bool) {
	id := transaction.TxHash()
	for _, in := range transaction.TxIn {
		for _, t := range slices.Clone(w.spends[in.PreviousOutPoint]) {
			if t.record.ID == id {
				continue
			}
			w.descend(t, false, func(t *tx) bool {
				if !change(t) {
					return false
				}
				w.refreshSpent(t)
				return true
			})
		}
	}
}
