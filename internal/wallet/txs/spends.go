package txs

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// spends holds the transactions of the wallet by the outputs that they spend.
type spends map[wire.OutPoint][]*tx

// spenders visits the transactions that spend outputs of t.
func (s spends) spenders(t *tx, visit func(*tx)) {
	for _, out := range t.outs {
		for _, spender := range s[out.point()] {
			visit(spender)
		}
	}
}

// add notes what a transaction spends.
func (s spends) add(t *tx) {
	for _, in := range t.record.Tx.TxIn {
		at := in.PreviousOutPoint
		s[at] = append(s[at], t)
		if len(s[at]) > 1 {
			copyNotes(s[at])
		}
	}
}

// remove forgets what a transaction spends.
func (s spends) remove(t *tx) {
	for _, in := range t.record.Tx.TxIn {
		at := in.PreviousOutPoint
		left := slices.DeleteFunc(s[at], func(other *tx) bool { return other == t })
		if len(left) == 0 {
			delete(s, at)
		} else {
			s[at] = left
		}
	}
}

// against changes the transactions that spend the same outputs as the given
// transaction, whose id is id, and the descendants of those that were changed.
func (s spends) against(transaction *wire.MsgTx, id chainhash.Hash, change func(*tx) bool) {
	for _, in := range transaction.TxIn {
		for _, t := range slices.Clone(s[in.PreviousOutPoint]) {
			if t.record.ID != id {
				s.descend(t, change)
			}
		}
	}
}

// spent reports whether an output is spent by a transaction that is confirmed, or
// may be yet.
func (s spends) spent(out *output) bool {
	return slices.ContainsFunc(s[out.point()], func(t *tx) bool {
		return t.state.kind == confirmed || t.pending()
	})
}

// spentInSight reports whether an output is spent by a transaction that is confirmed, or in the mempool.
func (s spends) spentInSight(out *output) bool {
	return slices.ContainsFunc(s[out.point()], func(t *tx) bool {
		return t.state.kind == confirmed || t.state.kind == inMempool
	})
}

// conflictsOf returns the other transactions of the wallet that spend what t
// spends, by their ids.
func (s spends) conflictsOf(t *tx) []chainhash.Hash {
	found := make(map[chainhash.Hash]bool)
	for _, in := range t.record.Tx.TxIn {
		for _, other := range s[in.PreviousOutPoint] {
			if other != t {
				found[other.record.ID] = true
			}
		}
	}
	return sortedHashes(found)
}

// descend changes a transaction and, where that changed it, all that spends its
// outputs. A second change of the same one must not change it.
func (s spends) descend(first *tx, change func(*tx) bool) {
	for todo := []*tx{first}; len(todo) > 0; {
		t := todo[0]
		todo = todo[1:]
		if change(t) {
			s.spenders(t, func(spender *tx) { todo = append(todo, spender) })
		}
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

// sortedHashes returns the hashes in the order of their bytes, never nil.
func sortedHashes(set map[chainhash.Hash]bool) []chainhash.Hash {
	hashes := make([]chainhash.Hash, 0, len(set))
	for h := range set {
		hashes = append(hashes, h)
	}
	slices.SortFunc(hashes, func(a, b chainhash.Hash) int { return bytes.Compare(a[:], b[:]) })
	return hashes
}
