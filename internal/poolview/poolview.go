// Package poolview is the memory pool as its listeners see it.
//
// A listener calls [Join], which subscribes it to the changes of the pool and asks for
// the pool's contents. Changes may come before the answer does, and some of them are
// newer: a [View] takes both in any order, and is right once both are there.
//
// A View belongs to one actor; it is not safe for concurrent use. It shares the
// transactions with the pool: nobody may change them.
package poolview

import (
	"context"
	"fmt"
	"iter"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// Contents is what was in the pool when it was asked, or why it could not be read.
type Contents struct {
	Pool messages.PoolTxs
	Err  error
}

// Join subscribes the actor in c to the changes of the pool, which arrive as
// [messages.PoolChanged]. It also asks for the pool's contents, which arrive as the
// message that then makes of the answer. Every change that the answer lacks arrives,
// possibly before the answer.
func Join(
	ctx context.Context, c actor.Context, pool *ask.Ref, changes *ask.Feed[messages.PoolChanged],
	then func(Contents) any,
) {
	changes.Subscribe(c)
	ask.Then(ctx, c, pool, messages.GetPoolTxs{}, func(txs messages.PoolTxs, err error) any {
		return then(Contents{txs, err})
	})
}

// A Tx is a transaction of the pool.
type Tx struct {
	Tx      *wire.MsgTx
	ID, WID chainhash.Hash // txid and wtxid
	Fee     int64          // in satoshi
	VSize   int64          // in virtual bytes

	// Order grows with every transaction that came into the view; it is 0 for one of a
	// block that left the chain.
	Order uint64
}

// A View is what a listener knows of the pool.
type View struct {
	byWID, byID map[chainhash.Hash]*Tx
	removed     map[chainhash.Hash]bool // by wtxid, before the contents came; nil afterwards
	complete    bool                    // the contents have come, or are not needed any more
	last        uint64
	sequence    uint64 // of the pool: that of its next change
}

// New returns the view of a pool of which nothing is known yet.
func New() *View {
	return &View{
		byWID: make(map[chainhash.Hash]*Tx), byID: make(map[chainhash.Hash]*Tx),
		removed: make(map[chainhash.Hash]bool),
	}
}

// Begin takes over the pool's contents, without the transactions that have left since.
// It calls each, unless nil, for every transaction that the pool still has, with the
// pool's own entry. An error says that the pool could not be read: the view then has
// only the changes.
func (v *View) Begin(m Contents, each func(tx *Tx, of *messages.PoolTx)) error {
	v.sequence = max(v.sequence, m.Pool.Sequence) // changes may have come before
	for i := range m.Pool.Txs {
		of := &m.Pool.Txs[i]
		if v.complete || v.removed[of.WID] {
			continue
		}
		v.add(&messages.PoolChange{
			Tx: of.Tx, ID: of.ID, WID: of.WID, Fee: of.Fee, VSize: of.VSize, Sequence: of.Sequence,
		})
		if each != nil {
			each(v.byWID[of.WID], of)
		}
	}
	v.removed, v.complete = nil, true
	if m.Err != nil {
		return fmt.Errorf("read the memory pool: %w", m.Err)
	}
	return nil
}

// Apply takes over what has changed.
func (v *View) Apply(m messages.PoolChanged) {
	if m.Reset {
		v.Reset()
	}
	for i := range m.Changes {
		v.Change(&m.Changes[i])
	}
}

// Reset says that the pool is empty and new. All that comes into it from now on comes as
// a change: contents that are yet to come are not needed.
func (v *View) Reset() {
	clear(v.byWID)
	clear(v.byID)
	v.removed, v.complete = nil, true
}

// Change takes over one change. It returns the transaction that has left; nil where the
// view did not have it, or where one came.
func (v *View) Change(change *messages.PoolChange) (left *Tx) {
	if change.Number > 0 {
		v.sequence = change.Number + 1
	}
	if change.Added {
		v.add(change)
		delete(v.removed, change.WID)
		return nil
	}
	left = v.byWID[change.WID]
	if left != nil {
		delete(v.byID, left.ID)
		delete(v.byWID, left.WID)
	}
	if v.removed != nil {
		v.removed[change.WID] = true
	}
	return left
}

func (v *View) add(change *messages.PoolChange) {
	if v.byWID[change.WID] != nil {
		return
	}
	tx := &Tx{Tx: change.Tx, ID: change.ID, WID: change.WID, Fee: change.Fee, VSize: change.VSize}
	if change.Sequence > 0 {
		v.last++
		tx.Order = v.last
	}
	v.byWID[tx.WID], v.byID[tx.ID] = tx, tx
}

// ByID returns the transaction of a txid, nil where the pool has none.
func (v *View) ByID(id chainhash.Hash) *Tx { return v.byID[id] }

// ByWID returns the transaction of a wtxid, nil where the pool has none.
func (v *View) ByWID(wid chainhash.Hash) *Tx { return v.byWID[wid] }

// All yields all transactions, in no order.
func (v *View) All() iter.Seq[*Tx] {
	return func(yield func(*Tx) bool) {
		for _, tx := range v.byWID {
			if !yield(tx) {
				return
			}
		}
	}
}

// Last is the highest Order of all transactions that ever were in the view.
func (v *View) Last() uint64 { return v.last }

// Sequence is the number that the next change of the pool has, as far as changes have come; 0 where nothing is known.
func (v *View) Sequence() uint64 { return v.sequence }
