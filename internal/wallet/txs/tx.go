package txs

import (
	"cmp"
	"maps"
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// tx is a transaction of the wallet.
type tx struct {
	record *walletfile.Tx // its state is written from state
	state  state
	outs   []*output

	// hashed is the form of the transaction whose hash with its witnesses is known: as often
	// as it is listed, it is hashed once.
	hashed *wire.MsgTx
	wtxid  chainhash.Hash

	// conflicts are transactions in the mempool that spend the same outputs as
	// this transaction or its ancestors.
	conflicts map[chainhash.Hash]bool
}

// output is an output of a transaction of the wallet.
type output struct {
	tx     *tx
	index  uint32
	to     *payee
	amount btcutil.Amount
	place  place // where it is counted
}

func (o *output) point() wire.OutPoint { return wire.OutPoint{Hash: o.tx.record.ID, Index: o.index} }

// witnessHash returns the hash of a transaction with its witnesses.
func (t *tx) witnessHash() chainhash.Hash {
	if t.hashed != t.record.Tx {
		t.hashed, t.wtxid = t.record.Tx, t.record.Tx.WitnessHash()
	}
	return t.wtxid
}

// addTx takes in a transaction that is not there yet, with its record.
func (l *Ledger) addTx(record *walletfile.Tx, s state) *tx {
	t := &tx{record: record, state: s}
	l.txs[record.ID] = t
	t.outs = make([]*output, len(record.Tx.TxOut))
	for i, out := range record.Tx.TxOut {
		paid := l.payees.of(out.PkScript)
		t.outs[i] = &output{tx: t, index: uint32(i), to: paid, amount: btcutil.Amount(out.Value)}
		paid.outs = append(paid.outs, t.outs[i])
	}
	l.states.add(t)
	return t
}

// countOutputs counts the outputs of a transaction, and those that it spends.
func (l *Ledger) countOutputs(t *tx) {
	for _, out := range t.outs {
		l.refresh(out)
		l.payees.notePaid(out.to)
	}
	l.refreshSpent(t)
}

func (l *Ledger) refreshSpent(t *tx) {
	for _, in := range t.record.Tx.TxIn {
		if out := l.ownOutput(in.PreviousOutPoint); out != nil {
			l.refresh(out)
		}
	}
}

// setState changes the state of a transaction.
func (l *Ledger) setState(t *tx, s state) {
	l.states.remove(t)
	t.state = s
	l.states.add(t)
	for _, out := range t.outs {
		l.refresh(out)
	}
	l.refreshSpent(t)
}

// BlockOf returns the block that a transaction is confirmed in, false where it is
// in none.
func (l *Ledger) BlockOf(id chainhash.Hash) (block BlockRef, found bool) {
	t := l.txs[id]
	if t == nil || t.state.kind != confirmed {
		return BlockRef{}, false
	}
	return t.state.block, true
}

// Find reports whether a wallet has a transaction, and whether that was given up or is in conflict
// with a block.
func Find(l *Ledger, id chainhash.Hash) (found, lost bool) {
	t := l.txs[id]
	return t != nil, t != nil && (t.state.kind == abandoned || t.state.kind == conflicted)
}

// writeTx writes the record of a transaction.
func (l *Ledger) writeTx(t *tx) {
	t.record.State = t.state.stored()
	l.log.Put(t.record)
	if notes, any := t.record.Notes(); any {
		l.log.Put(notes)
	}
}

// SetComment sets the comment of a transaction, an empty one takes it away. It is false where there is no such
// transaction.
func SetComment(l *Ledger, id chainhash.Hash, text string) bool {
	t := l.txs[id]
	if t == nil {
		return false
	}
	values := maps.Clone(t.record.Values) // reports have the old ones
	if values == nil {
		values = map[string]string{}
	}
	if values[noteComment] = text; text == "" {
		delete(values, noteComment)
	}
	t.record.Values = values
	l.writeTx(t)
	return true
}

// Comments returns the comments of transactions, by id.
func Comments(l *Ledger) (all []messages.TxLabel) {
	for id, t := range l.txs {
		if text := t.record.Values[noteComment]; text != "" {
			all = append(all, messages.TxLabel{TxID: id, Label: text})
		}
	}
	slices.SortFunc(all, func(a, b messages.TxLabel) int { return slices.Compare(a.TxID[:], b.TxID[:]) })
	return all
}

// coinbase reports whether the transaction is a coinbase, which pays the miner.
func (t *tx) coinbase() bool {
	in := t.record.Tx.TxIn
	return len(in) == 1 && in[0].PreviousOutPoint == wire.OutPoint{Index: wire.MaxPrevOutIndex}
}

// time returns when the transaction came, as it is shown and ordered.
func (t *tx) time() int64 {
	return int64(cmp.Or(t.record.TimeSmart, t.record.TimeReceived))
}
