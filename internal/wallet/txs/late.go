package txs

import (
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// conflictingBlock returns the block that keeps a transaction from being confirmed. The block has
// another transaction of the wallet that spends one of the same outputs, or is in conflict with a
// parent of the transaction. It returns nil if the wallet knows of no such block.
func conflictingBlock(l *Ledger, transaction *wire.MsgTx, id chainhash.Hash) *BlockRef {
	for _, in := range transaction.TxIn {
		for _, other := range l.spends[in.PreviousOutPoint] {
			if other.state.kind == confirmed && other.record.ID != id {
				return &other.state.block
			}
		}
		if parent := l.txs[in.PreviousOutPoint.Hash]; parent != nil && parent.state.kind == conflicted {
			return &parent.state.block
		}
	}
	return nil
}

// markSpenders puts all that descends from a transaction in conflict with a block into
// conflict with that block.
func markSpenders(l *Ledger, t *tx) {
	block := t.state.block
	l.spends.spenders(t, func(spender *tx) {
		l.spends.descend(spender, func(t *tx) bool { return markConflicted(l, t, block) })
	})
}

// markConflicted puts an unconfirmed transaction into conflict with a block. It reports false for
// a transaction that is in a block or in conflict already.
func markConflicted(l *Ledger, t *tx, block BlockRef) bool {
	if t.state.inBlock() {
		return false
	}
	l.setState(t, state{kind: conflicted, block: block})
	l.writeTx(t)
	return true
}

// markLoaded puts the unconfirmed transactions of the file into conflict with the blocks
// that keep them from being confirmed. A wallet that heard of a payment after the block that replaced it has
// written it as unconfirmed.
func markLoaded(l *Ledger) {
	for _, t := range l.history.ordered {
		if t.state.inBlock() || t.coinbase() {
			continue
		}
		if block := conflictingBlock(l, t.record.Tx, t.record.ID); block != nil && markConflicted(l, t, *block) {
			markSpenders(l, t)
		}
	}
}

// A Waiting transaction is in no block, and no block that the wallet knows excludes it.
type Waiting struct {
	Tx       *wire.MsgTx
	Received int64 // when the wallet heard of it, in seconds since 1970
}

// Outside returns the waiting transactions that are not in the mempool either, the newest
// first. A wallet that heard of a payment after a block of others that excludes it has such.
func Outside(l *Ledger) (list []Waiting) {
	for _, t := range slices.Backward(l.history.ordered) {
		if (t.state.kind == inactive || t.state.kind == abandoned) && !t.coinbase() {
			list = append(list, Waiting{t.record.Tx, int64(t.record.TimeReceived)})
		}
	}
	return list
}

// Exclude puts the transactions that a block of the active chain excludes into conflict
// with this block. It takes in nothing of the block.
func Exclude(l *Ledger, b *Block) {
	for _, t := range b.Txs {
		l.markConflicts(t, t.TxHash(), b.BlockRef)
	}
}
