package txs

import (
	"maps"
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// Spending is the payer's view of the ledger.
type Spending struct {
	ledger  *Ledger
	reports *Reports
}

// NewSpending returns the payer's view of a ledger.
func NewSpending(l *Ledger, reports *Reports) *Spending { return &Spending{l, reports} }

// A Spendable is a coin that a transaction may spend.
type Spendable struct {
	At      wire.OutPoint
	Script  []byte
	Amount  btcutil.Amount
	Depth   int32
	Own     bool  // its transaction spends from the wallet
	Version int32 // of its transaction
}

// Spendable returns the coins that a request may spend. The caller has to look at coins
// that are unconfirmed and of version 3.
func (sp *Spending) Spendable(r *messages.Spend) []Spendable {
	given := make(map[wire.OutPoint]bool, len(r.Inputs))
	for i := range r.Inputs {
		given[r.Inputs[i].At] = true
	}
	which := messages.ListUnspent{MinConf: r.MinConf, MaxConf: r.MaxConf, IncludeUnsafe: r.Unsafe}
	avoidUsed := sp.reports.flags.Has(walletfile.AvoidReuse) && !r.AllowUsed
	trust := newTrust(sp.ledger)
	var found []Spendable
	for _, out := range sp.reports.sortedCoins() {
		if given[out.point()] || !sp.reports.available(out, &which, trust) {
			continue
		}
		if avoidUsed && sp.reports.labels.Used(out.to.dest) {
			continue
		}
		found = append(found, sp.spendable(out))
	}
	return found
}

func (sp *Spending) spendable(out *output) Spendable {
	return Spendable{
		At: out.point(), Script: out.to.pkScript, Amount: out.amount, Depth: sp.ledger.at.depth(out.tx),
		Own: sp.reports.debit(out.tx) > 0, Version: out.tx.record.Tx.Version,
	}
}

// Output returns an output of the wallet's transactions that is the wallet's, spent or
// not. It is false for others.
func (sp *Spending) Output(at wire.OutPoint) (Spendable, bool) {
	out := sp.ledger.ownOutput(at)
	if out == nil {
		return Spendable{}, false
	}
	return sp.spendable(out), true
}

// AnyOutput returns an output of the wallet's transactions, whoever it belongs to; nil
// where there is none.
func (sp *Spending) AnyOutput(at wire.OutPoint) *wire.TxOut {
	t := sp.ledger.txs[at.Hash]
	if t == nil || int64(at.Index) >= int64(len(t.record.Tx.TxOut)) {
		return nil
	}
	return t.record.Tx.TxOut[at.Index]
}

// PoolTxs returns the ids of the wallet's transactions that are in the memory pool.
func (sp *Spending) PoolTxs() []chainhash.Hash {
	ids := make([]chainhash.Hash, 0, len(sp.ledger.states.pool))
	for t := range sp.ledger.states.pool {
		ids = append(ids, t.record.ID)
	}
	return ids
}

// Unspent reports whether a coin of the wallet can be spent by a further transaction: no
// other one spends it, and it is not locked.
func (sp *Spending) Unspent(at wire.OutPoint) bool {
	out := sp.ledger.ownOutput(at)
	return out != nil && !sp.ledger.spends.spent(out) && !sp.ledger.locks.Has(at)
}

// Transaction returns a transaction of the wallet, nil where it has none.
func (sp *Spending) Transaction(id chainhash.Hash) *wire.MsgTx {
	if t := sp.ledger.txs[id]; t != nil {
		return t.record.Tx
	}
	return nil
}

// Knows reports whether a transaction is the wallet's.
func (sp *Spending) Knows(id chainhash.Hash) bool { return sp.ledger.txs[id] != nil }

// Pending returns a transaction of the wallet, alone, if it is in no block and nothing speaks against it.
func (sp *Spending) Pending(id chainhash.Hash) []*wire.MsgTx {
	if t := sp.ledger.txs[id]; t != nil && t.pending() {
		return []*wire.MsgTx{t.record.Tx}
	}
	return nil
}

// Spent reports whether a transaction of the wallet that is confirmed, or may be yet,
// spends an output.
func (sp *Spending) Spent(at wire.OutPoint) bool {
	return slices.ContainsFunc(sp.ledger.spends[at], func(t *tx) bool {
		return t.state.kind == confirmed || t.pending()
	})
}

// Commit takes in a transaction that the wallet has made, with texts to keep. The coins
// that it spends are spent from then on.
func (sp *Spending) Commit(transaction *wire.MsgTx, values map[string]string, now int64) {
	id := transaction.TxHash()
	known := sp.ledger.txs[id] != nil
	sp.ledger.sync(transaction, sync{now: now})
	t := sp.ledger.txs[id]
	if t == nil { // it neither spends from the wallet nor pays to it
		sp.ledger.applyTx(transaction, id, sync{now: now})
		t = sp.ledger.txs[id]
	}
	if known || len(values) == 0 {
		return
	}
	maps.Copy(t.record.Values, values)
	sp.ledger.writeTx(t)
}

// Find returns the transaction of the wallet that has a text of a name with a value, the
// newest first; nil where there is none.
func (sp *Spending) Find(name, value string) (id chainhash.Hash, values map[string]string, found bool) {
	for i := len(sp.ledger.history.ordered) - 1; i >= 0; i-- {
		record := sp.ledger.history.ordered[i].record
		if record.Values[name] == value {
			return record.ID, record.Values, true
		}
	}
	return id, nil, false
}
