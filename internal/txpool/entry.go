package txpool

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/txpool/linear"
)

// An Entry is a transaction of the pool. Its fields must not be written to.
type Entry struct {
	Tx       *wire.MsgTx
	ID, WID  chainhash.Hash
	Fee      int64 // what it pays
	Modified int64 // the fee with what the operator added
	VSize    int64 // virtual size, which signature operations may raise
	Weight   int64
	SigOps   int64  // cost of its signature operations
	Time     int64  // when it came, in seconds since 1970
	Height   int32  // of the tip when it came
	Sequence uint64 // of the pool when it came; 0 after a reorganisation
	Alone    bool   // came by itself, from no block, and spent nothing of the pool

	Ancestors, Descendants Total // itself included

	spendsCoinbase    bool
	verified          int // version of the rules that its scripts were last executed by
	usage             int64
	parents, children map[*Entry]struct{}
	place             int        // in the order of eviction
	node              *linear.Tx // in clusters
}

// Total sums up some transactions.
type Total struct {
	Count int
	VSize int64
	Fees  int64 // modified
	sigs  int64
}

func (t *Total) add(e *Entry, times int64) {
	t.Count += int(times)
	t.VSize += times * e.VSize
	t.Fees += times * e.Modified
	t.sigs += times * e.SigOps
}

// rate is the rate of the modified fee.
func (e *Entry) rate() FeeRate { return RateOf(e.Modified, e.VSize) }

// Parents returns the transactions of the pool that it spends from.
func (e *Entry) Parents() []*Entry { return sorted(e.parents) }

// Children returns the transactions of the pool that spend its outputs.
func (e *Entry) Children() []*Entry { return sorted(e.children) }

// ancestors returns all that an entry depends on, without itself.
func (e *Entry) ancestors() map[*Entry]struct{} {
	return reach(e.parents, func(e *Entry) map[*Entry]struct{} { return e.parents })
}

// descendants returns all that depends on an entry, without itself.
func (e *Entry) descendants() map[*Entry]struct{} {
	return reach(e.children, func(e *Entry) map[*Entry]struct{} { return e.children })
}

func reach(from map[*Entry]struct{}, next func(*Entry) map[*Entry]struct{}) map[*Entry]struct{} {
	seen := make(map[*Entry]struct{}, len(from))
	var todo []*Entry
	visit := func(set map[*Entry]struct{}) {
		for e := range set {
			if _, known := seen[e]; !known {
				seen[e] = struct{}{}
				todo = append(todo, e)
			}
		}
	}
	for visit(from); len(todo) > 0; {
		e := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		visit(next(e))
	}
	return seen
}

// sorted returns entries by their ids.
func sorted(set map[*Entry]struct{}) []*Entry {
	list := make([]*Entry, 0, len(set))
	for e := range set {
		list = append(list, e)
	}
	slices.SortFunc(list, byID)
	return list
}

func byID(a, b *Entry) int { return compareHashes(&a.ID, &b.ID) }

// compareHashes orders hashes as Core does: by their bytes, the last digits of
// their texts first.
func compareHashes(a, b *chainhash.Hash) int { return bytes.Compare(a[:], b[:]) }

// byDepth orders entries by their numbers of ancestors, so that each comes after
// its ancestors. Entries with equal numbers come by fee rate, the best first, and
// at the same rate by id, the highest first. Fees that the operator added do not
// count: the order shows in lists.
func byDepth(a, b *Entry) int {
	return cmp.Or(
		cmp.Compare(a.Ancestors.Count, b.Ancestors.Count),
		RateOf(b.Fee, b.VSize).Compare(RateOf(a.Fee, a.VSize)),
		byID(b, a),
	)
}

// signals reports whether a transaction asks to be replaceable (BIP125).
func signals(tx *wire.MsgTx) bool {
	return slices.ContainsFunc(tx.TxIn, func(in *wire.TxIn) bool { return in.Sequence < wire.MaxTxInSequenceNum-1 })
}

// Replaceable reports whether the entry or an ancestor in the pool asks to be
// replaceable (BIP125).
func (e *Entry) Replaceable() bool {
	if signals(e.Tx) {
		return true
	}
	for a := range e.ancestors() {
		if signals(a.Tx) {
			return true
		}
	}
	return false
}
