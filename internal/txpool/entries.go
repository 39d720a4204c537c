package txpool

import (
	"maps"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// entries are the transactions of a pool, by their ids and by the outputs that
// they spend.
type entries struct {
	byID   map[chainhash.Hash]*Entry
	byWID  map[chainhash.Hash]*Entry
	spends map[wire.OutPoint]*Entry

	vsize, fees, usage int64
}

// Len returns the number of transactions.
func (t *entries) Len() int { return len(t.byID) }

// Total sums up the pool. Its fees are those paid.
func (t *entries) Total() Total { return Total{Count: len(t.byID), VSize: t.vsize, Fees: t.fees} }

// Lookup returns a transaction by its id, nil if it is not there.
func (t *entries) Lookup(id *chainhash.Hash) *Entry { return t.byID[*id] }

// LookupWitness returns a transaction by its witness id.
func (t *entries) LookupWitness(wid *chainhash.Hash) *Entry { return t.byWID[*wid] }

// Spender returns the transaction that spends an output, nil if none does.
func (t *entries) Spender(at wire.OutPoint) *Entry { return t.spends[at] }

// list returns all transactions, in any order.
func (t *entries) list() []*Entry { return slices.Collect(maps.Values(t.byID)) }

// Ancestors returns what an entry depends on, by id.
func (*entries) Ancestors(e *Entry) []*Entry { return sorted(e.ancestors()) }

// Descendants returns what depends on an entry, by id.
func (*entries) Descendants(e *Entry) []*Entry { return sorted(e.descendants()) }

// link files an entry, and links it with its parents and children.
func (t *entries) link(e *Entry) {
	t.byID[e.ID], t.byWID[e.WID] = e, e
	e.parents, e.children = make(map[*Entry]struct{}), make(map[*Entry]struct{})
	for _, in := range e.Tx.TxIn {
		t.spends[in.PreviousOutPoint] = e
		if parent := t.byID[in.PreviousOutPoint.Hash]; parent != nil {
			e.parents[parent], parent.children[e] = struct{}{}, struct{}{}
		}
	}
	for i := range e.Tx.TxOut {
		if child := t.spends[wire.OutPoint{Hash: e.ID, Index: uint32(i)}]; child != nil {
			child.parents[e], e.children[child] = struct{}{}, struct{}{}
		}
	}
}
