package txs

import (
	"math"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/walletfile"
)

// sync says how a transaction is seen.
type sync struct {
	state  state
	now    int64
	rescan bool // in a block that is older than the tip
}

// An effect is what a transaction is for the wallet.
type effect uint8

const (
	foreignTx effect = iota // none of its concern
	sameTx                  // known as it is
	changedTx               // new, or seen in another way
)

// sync takes in a transaction if it concerns the wallet, and returns its effect. The own scripts that it pays to
// have been used: see use. If it is in a block, transactions of the wallet that spend the same outputs are
// settled.
func (l *Ledger) sync(transaction *wire.MsgTx, s sync) effect {
	id := transaction.TxHash()
	if s.state.kind == confirmed {
		l.markConflicts(transaction, id, s.state.block)
	}
	if l.txs[id] == nil && !l.paysMe(transaction) && !l.fromMe(transaction) {
		return foreignTx
	}
	if l.applyTx(transaction, id, s) {
		return changedTx
	}
	return sameTx
}

// applyTx adds a transaction of the wallet or brings its state up to date. It
// reports whether that changed anything.
func (l *Ledger) applyTx(transaction *wire.MsgTx, id chainhash.Hash, s sync) (changed bool) {
	if l.cfg.Flags.Has(walletfile.AvoidReuse) {
		l.markSpentFrom(transaction)
	}
	t := l.txs[id]
	changed = t == nil
	if t == nil {
		t = l.insertTx(transaction, id, s)
	} else if !t.state.sameKind(s.state) || t.state.inBlock() && t.state.block.Hash != s.state.block.Hash {
		changed = true
		l.setState(t, s.state)
	}
	if transaction.HasWitness() && !t.record.Tx.HasWitness() {
		t.record.Tx, changed = transaction, true
	}
	if t.coinbase() && (t.state.kind == inactive || t.state.kind == abandoned) {
		l.abandonAll(t)
	}
	if changed {
		l.writeTx(t)
	}
	return changed
}

// insertTx adds a transaction that is new to the wallet.
func (l *Ledger) insertTx(transaction *wire.MsgTx, id chainhash.Hash, s sync) *tx {
	record := &walletfile.Tx{
		ID: id, Tx: transaction, OrderPos: l.history.newPosition(), TimeReceived: uint32(s.now),
		Values: map[string]string{},
	}
	record.TimeSmart = l.history.smartTime(record, s)
	t := l.addTx(record, s.state)
	l.history.insert(t)
	if !t.coinbase() {
		l.spends.add(t)
		for _, in := range transaction.TxIn {
			l.locks.Unlock(in.PreviousOutPoint)
		}
	}
	l.countOutputs(t)
	l.birth = min(l.birth, t.time())
	return t
}

// markSpentFrom notes the addresses that a transaction spends from as used.
func (l *Ledger) markSpentFrom(transaction *wire.MsgTx) {
	for _, in := range transaction.TxIn {
		out := l.ownOutput(in.PreviousOutPoint)
		if out != nil && out.to.dest != "" {
			l.markUsed(out.to)
		}
	}
}

// markUsed notes that a script's address was spent from.
func (l *Ledger) markUsed(p *payee) {
	if l.cfg.Book.MarkUsed(p.pkScript) {
		for _, out := range p.outs {
			l.refresh(out)
		}
	}
}

// markConflicts puts the wallet's transactions that exclude a transaction in a
// block, and their descendants, into conflict with that block. A transaction in
// conflict with a deeper block stays in this conflict.
func (l *Ledger) markConflicts(transaction *wire.MsgTx, id chainhash.Hash, block BlockRef) {
	depth := -l.at.blockDepth(block)
	if depth >= 0 {
		return
	}
	l.spends.against(transaction, id, func(t *tx) bool {
		if depth >= l.at.depth(t) {
			return false
		}
		l.setState(t, state{kind: conflicted, block: block})
		l.writeTx(t)
		return true
	})
}

// Unconfirmed returns the transactions that are in no block and that nothing
// speaks against, in the order in which they came: those to hand to the mempool.
func (l *Ledger) Unconfirmed() []*wire.MsgTx { return l.history.unconfirmed(math.MaxInt64) }

// UnconfirmedBefore is [Ledger.Unconfirmed] for those that came before a time.
func (l *Ledger) UnconfirmedBefore(before int64) []*wire.MsgTx { return l.history.unconfirmed(before) }
