package poolcopy

import (
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// Describe tells of a transaction of the pool, but for what depends on it.
func (p *Pool) Describe(tx *Tx) messages.PoolTx {
	ancestors := p.Ancestors(tx)
	d := tx.describe(tx.Msg())
	for _, a := range ancestors {
		d.Ancestors++
		d.AncestorFees += a.ModifiedFee
		d.AncestorVSize += a.VSize
		d.Replaceable = d.Replaceable || signals(a.Msg())
	}
	for _, in := range d.Tx.TxIn {
		id := in.PreviousOutPoint.Hash
		if p.txs[id].Tx != nil && !slices.Contains(d.Depends, id) {
			d.Depends = append(d.Depends, id)
		}
	}
	return d
}

func (t *Tx) describe(msg *wire.MsgTx) messages.PoolTx {
	return messages.PoolTx{
		Tx: msg, ID: t.ID, WID: t.WID, VSize: t.VSize, Weight: t.Weight, Time: t.Time, Height: t.Height,
		Sequence: t.Sequence, Fee: t.Fee, ModifiedFee: t.ModifiedFee,
	}
}

// signals reports whether a transaction says itself that it may be replaced (BIP125).
func signals(msg *wire.MsgTx) bool {
	return slices.ContainsFunc(msg.TxIn, func(in *wire.TxIn) bool { return in.Sequence < wire.MaxTxInSequenceNum-1 })
}

// Contents tells of transactions of a pool, each after those that it depends on, without
// what is about their ancestors and descendants. It may run beside the pool.
func Contents(list []*Tx) []messages.PoolTx {
	slices.SortFunc(list, func(a, b *Tx) int { return later(b, a) })
	place := make(map[chainhash.Hash]int, len(list))
	for i, tx := range list {
		place[tx.ID] = i
	}
	w := writer{list: list, place: place, begun: make([]bool, len(list)), out: make([]messages.PoolTx, 0, len(list))}
	for i := range list {
		w.write(i)
	}
	return w.out
}

// A writer puts parents first.
type writer struct {
	list  []*Tx
	place map[chainhash.Hash]int
	begun []bool
	out   []messages.PoolTx
}

// write puts out a transaction after its parents, without recursion: a chain of
// transactions may be long.
func (w *writer) write(first int) {
	type step struct {
		at   int
		msg  *wire.MsgTx
		next int // input to look at
	}
	push := func(stack []step, at int) []step {
		w.begun[at] = true
		return append(stack, step{at: at, msg: w.list[at].Msg()})
	}
	if w.begun[first] {
		return
	}
	for stack := push(nil, first); len(stack) > 0; {
		top := &stack[len(stack)-1]
		if top.next == len(top.msg.TxIn) {
			w.out = append(w.out, w.list[top.at].describe(top.msg))
			stack = stack[:len(stack)-1]
			continue
		}
		parent, ok := w.place[top.msg.TxIn[top.next].PreviousOutPoint.Hash]
		top.next++
		if ok && !w.begun[parent] {
			stack = push(stack, parent)
		}
	}
}
