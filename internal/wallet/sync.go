package wallet

import (
	"math"
	"slices"

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

// sync takes in a transaction if it concerns the wallet, and tells what it was for
// it. A block that spends what others of the wallet spend settles those.
func (w *Wallet) sync(transaction *wire.MsgTx, s sync) effect {
	id := transaction.TxHash()
	if s.state.kind == confirmed {
		w.markConflicts(transaction, id, s.state.block)
	}
	if w.txs[id] == nil && !w.paysMe(transaction) && !w.fromMe(transaction) {
		return foreignTx
	}
	for _, out := range transaction.TxOut {
		if paid := w.scripts[string(out.PkScript)]; paid != nil && paid.mine() {
			w.markUsed(paid)
		}
	}
	if w.take(transaction, id, s) {
		return changedTx
	}
	return sameTx
}

// take adds a transaction of the wallet or brings its state up to date. It reports
// whether that changed anything.
func (w *Wallet) take(transaction *wire.MsgTx, id chainhash.Hash, s sync) (changed bool) {
	if w.flags.Has(walletfile.AvoidReuse) {
		w.markSpentFrom(transaction)
	}
	t := w.txs[id]
	changed = t == nil
	if t == nil {
		t = w.enter(transaction, id, s)
	} else if !t.state.sameKind(s.state) || t.state.inBlock() && t.state.block.Hash != s.state.block.Hash {
		changed = true
		w.setState(t, s.state)
	}
	if transaction.HasWitness() && !t.record.Tx.HasWitness() {
		t.record.Tx, changed = transaction, true
	}
	if t.coinbase() && (t.state.kind == inactive || t.state.kind == abandoned) {
		w.abandonAll(t)
	}
	if changed {
		w.writeTx(t)
	}
	return changed
}

// enter adds a transaction that is new to the wallet.
func (w *Wallet) enter(transaction *wire.MsgTx, id chainhash.Hash, s sync) *tx {
	record := &walletfile.Tx{
		ID: id, Tx: transaction, OrderPos: w.orderPosNext, TimeReceived: uint32(s.now), Values: map[string]string{},
	}
	w.orderPosNext++
	w.log.Put(walletfile.OrderPosNext(w.orderPosNext))
	record.TimeSmart = w.smartTime(record, s)
	t := w.addTx(record, s.state)
	w.order(t)
	w.noteSpends(t)
	w.settle(t)
	w.bornBy(t.time())
	return t
}

// tolerance is how far, in seconds, the time of a transaction may be ahead of
// the clock to count for those that come after it.
const tolerance = 300

// smartTime returns a time that orders transactions as they came. It is the time
// of the block, but neither before that of the transaction that came last nor in
// the future. During a rescan it is the highest time of the chain up to the block.
func (w *Wallet) smartTime(record *walletfile.Tx, s sync) uint32 {
	if s.state.kind != confirmed {
		return record.TimeReceived
	}
	if s.rescan {
		return uint32(s.state.block.MaxTime)
	}
	latest := int64(record.TimeReceived)
	var last int64
	for _, t := range slices.Backward(w.ordered) {
		if at := t.time(); at <= latest+tolerance {
			last, latest = at, max(latest, at)
			break
		}
	}
	return uint32(max(last, min(s.state.block.Time, latest)))
}

// markSpentFrom notes the addresses that a transaction spends from as used.
func (w *Wallet) markSpentFrom(transaction *wire.MsgTx) {
	for _, in := range transaction.TxIn {
		out := w.ownOutput(in.PreviousOutPoint)
		if out != nil && out.script.dest != "" {
			w.markAddressUsed(out.script)
		}
	}
}

// markAddressUsed notes that a script's address was spent from.
func (w *Wallet) markAddressUsed(s *script) {
	if w.book.MarkUsed(s.bytes) {
		for _, out := range s.outs {
			w.refresh(out)
		}
	}
}

// markConflicts puts what the wallet has against a transaction in a block into
// conflict with that block.
func (w *Wallet) markConflicts(transaction *wire.MsgTx, id chainhash.Hash, block BlockRef) {
	for _, in := range transaction.TxIn {
		for _, t := range slices.Clone(w.spends[in.PreviousOutPoint]) {
			if t.record.ID != id {
				w.markConflicted(t, block)
			}
		}
	}
}

// markConflicted puts a transaction, and all that descends from it, into
// conflict with a block, unless it is in conflict with a deeper one.
func (w *Wallet) markConflicted(t *tx, block BlockRef) {
	depth := -(w.tip.Height - block.Height + 1)
	if depth >= 0 {
		return
	}
	w.descend(t, true, func(t *tx) bool {
		if depth >= w.depth(t) {
			return false
		}
		w.setState(t, state{kind: conflicted, block: block})
		return true
	})
}

// descend changes a transaction and, where that changed it, all that spends its
// outputs. The changes are written if write is set.
func (w *Wallet) descend(first *tx, write bool, change func(*tx) bool) {
	done := make(map[*tx]bool)
	for todo := []*tx{first}; len(todo) > 0; {
		t := todo[0]
		todo = todo[1:]
		if done[t] {
			continue
		}
		done[t] = true
		if !change(t) {
			continue
		}
		if write {
			w.writeTx(t)
		}
		w.spenders(t, func(spender *tx) { todo = append(todo, spender) })
	}
}

// Unconfirmed returns the transactions that are in no block and that nothing
// speaks against, in the order in which they came: those to hand to the mempool.
func (w *Wallet) Unconfirmed() []*wire.MsgTx { return w.UnconfirmedBefore(math.MaxInt64) }

// UnconfirmedBefore is [Wallet.Unconfirmed] for those that came before a time.
func (w *Wallet) UnconfirmedBefore(before int64) []*wire.MsgTx {
	var found []*wire.MsgTx
	for _, t := range w.ordered {
		if t.pending() && !t.coinbase() && int64(t.record.TimeReceived) <= before {
			found = append(found, t.record.Tx)
		}
	}
	return found
}
