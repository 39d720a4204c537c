package wallet

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/walletfile"
)

// tx is a transaction of the wallet.
type tx struct {
	record *walletfile.Tx // its state is written from state
	state  state
	outs   []*output

	// conflicts are transactions in the mempool that spend what this one, or
	// one that it descends from, spends too.
	conflicts map[chainhash.Hash]bool
}

// output is an output of a transaction of the wallet.
type output struct {
	tx     *tx
	index  uint32
	script *script
	amount btcutil.Amount
	place  place // where it is counted
}

func (o *output) point() wire.OutPoint { return wire.OutPoint{Hash: o.tx.record.ID, Index: o.index} }

// addTx takes in a transaction that is not there yet, with its record.
func (w *Wallet) addTx(record *walletfile.Tx, s state) *tx {
	t := &tx{record: record, state: s}
	w.txs[record.ID] = t
	t.outs = make([]*output, len(record.Tx.TxOut))
	for i, out := range record.Tx.TxOut {
		paid := w.script(out.PkScript)
		t.outs[i] = &output{tx: t, index: uint32(i), script: paid, amount: btcutil.Amount(out.Value)}
		paid.outs = append(paid.outs, t.outs[i])
	}
	w.index(t)
	return t
}

// order puts a transaction into the order of transactions.
func (w *Wallet) order(t *tx) {
	at, _ := slices.BinarySearchFunc(w.ordered, t.record.OrderPos+1, func(other *tx, pos int64) int {
		return cmp.Compare(other.record.OrderPos, pos)
	})
	w.ordered = slices.Insert(w.ordered, at, t)
}

// settle counts the outputs of a transaction, and those that it spends.
func (w *Wallet) settle(t *tx) {
	for _, out := range t.outs {
		w.refresh(out)
		w.notePaid(out.script)
	}
	w.refreshSpent(t)
}

func (w *Wallet) refreshSpent(t *tx) {
	for _, in := range t.record.Tx.TxIn {
		if out := w.ownOutput(in.PreviousOutPoint); out != nil {
			w.refresh(out)
		}
	}
}

// setState changes the state of a transaction.
func (w *Wallet) setState(t *tx, s state) {
	w.unindex(t)
	t.state = s
	w.index(t)
	for _, out := range t.outs {
		w.refresh(out)
	}
	w.refreshSpent(t)
}

// index notes a transaction by its state.
func (w *Wallet) index(t *tx) {
	switch t.state.kind {
	case confirmed, conflicted:
		w.byBlock[t.state.block.Hash] = append(w.byBlock[t.state.block.Hash], t)
	case inMempool:
		w.pool[t] = true
	case inactive, abandoned, unrecognized:
	}
}

func (w *Wallet) unindex(t *tx) {
	delete(w.pool, t)
	if !t.state.inBlock() {
		return
	}
	block := t.state.block.Hash
	left := slices.DeleteFunc(w.byBlock[block], func(other *tx) bool { return other == t })
	if len(left) == 0 {
		delete(w.byBlock, block)
		return
	}
	w.byBlock[block] = left
}

// BlockOf returns the block that a transaction is confirmed in, false where it is
// in none.
func (w *Wallet) BlockOf(id chainhash.Hash) (block BlockRef, found bool) {
	t := w.txs[id]
	if t == nil || t.state.kind != confirmed {
		return BlockRef{}, false
	}
	return t.state.block, true
}

// writeTx writes the record of a transaction.
func (w *Wallet) writeTx(t *tx) {
	t.record.State = t.state.stored()
	w.log.Put(t.record)
}

// coinbase reports whether the transaction is the one that pays the miner.
func (t *tx) coinbase() bool {
	in := t.record.Tx.TxIn
	return len(in) == 1 && in[0].PreviousOutPoint == wire.OutPoint{Index: wire.MaxPrevOutIndex}
}

// time returns when the transaction came, as it is shown and ordered.
func (t *tx) time() int64 {
	return int64(cmp.Or(t.record.TimeSmart, t.record.TimeReceived))
}

// spenders visits the transactions of the wallet that spend outputs of t.
func (w *Wallet) spenders(t *tx, visit func(*tx)) {
	for _, out := range t.outs {
		for _, spender := range w.spends[out.point()] {
			visit(spender)
		}
	}
}

// noteSpends notes what a transaction spends.
func (w *Wallet) noteSpends(t *tx) {
	if t.coinbase() {
		return
	}
	for _, in := range t.record.Tx.TxIn {
		at := in.PreviousOutPoint
		w.spends[at] = append(w.spends[at], t)
		w.UnlockCoin(at)
		copyNotes(w.spends[at])
	}
}

// copyNotes gives the texts and the time of the oldest of some transactions to
// those that only differ from it in their signatures.
func copyNotes(txs []*tx) {
	oldest := slices.MinFunc(txs, func(a, b *tx) int { return cmp.Compare(a.record.OrderPos, b.record.OrderPos) })
	for _, t := range txs {
		if t == oldest || !sameButSigned(oldest.record.Tx, t.record.Tx) {
			continue
		}
		t.record.Values = oldest.record.Values
		t.record.OrderForm = oldest.record.OrderForm
		t.record.TimeSmart = oldest.record.TimeSmart
	}
}

// sameButSigned reports whether two transactions differ only in what signs them.
func sameButSigned(a, b *wire.MsgTx) bool {
	return bytes.Equal(unsigned(a), unsigned(b))
}

func unsigned(t *wire.MsgTx) []byte {
	plain := t.Copy()
	for _, in := range plain.TxIn {
		in.SignatureScript, in.Witness = nil, nil
	}
	var raw bytes.Buffer
	_ = plain.SerializeNoWitness(&raw) // a buffer does not fail
	return raw.Bytes()
}

// conflictsOf returns the other transactions of the wallet that spend what t
// spends, by their ids.
func (w *Wallet) conflictsOf(t *tx) []chainhash.Hash {
	found := make(map[chainhash.Hash]bool)
	for _, in := range t.record.Tx.TxIn {
		for _, other := range w.spends[in.PreviousOutPoint] {
			if other != t {
				found[other.record.ID] = true
			}
		}
	}
	return sortedHashes(found)
}

// sortedHashes returns the hashes in the order of their bytes, never nil.
func sortedHashes(set map[chainhash.Hash]bool) []chainhash.Hash {
	hashes := make([]chainhash.Hash, 0, len(set))
	for h := range set {
		hashes = append(hashes, h)
	}
	slices.SortFunc(hashes, func(a, b chainhash.Hash) int { return bytes.Compare(a[:], b[:]) })
	return hashes
}
