package mempool_test

import (
	"bytes"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
)

// A draft is a transaction in the making.
type draft struct {
	*wire.MsgTx

	value int64 // of the outputs that it spends
}

func (w *world) draft(inputs int, fromPool bool) *draft {
	d := &draft{MsgTx: wire.NewMsgTx(2)}
	if w.IntN(3) == 0 {
		d.Version = 3
	}
	for range inputs {
		at, c, ok := w.free(fromPool)
		if !ok {
			break
		}
		d.add(at, c.out.Value, c.kind)
	}
	return d
}

func (d *draft) add(at wire.OutPoint, value int64, k kind) {
	in := &wire.TxIn{PreviousOutPoint: at, Sequence: wire.MaxTxInSequenceNum - 2}
	k.spend(in)
	d.TxIn = append(d.TxIn, in)
	d.value += value
}

// pay pays what is left of a fee rate out, in a few outputs; rate is in satoshis for
// 1000 virtual bytes.
func (w *world) pay(d *draft, outputs int, rate int64) {
	for range outputs {
		k := open
		if w.IntN(4) == 0 {
			k = kind(w.IntN(int(unspendable)))
		}
		if (k == bare || k == future || k == taproot) && w.IntN(10) != 0 {
			k = nested
		}
		d.AddTxOut(wire.NewTxOut(0, k.script()))
	}
	size := int64(3*d.SerializeSizeStripped()+d.SerializeSize()+3) / 4
	left := d.value - rate*size/1000 - int64(w.IntN(3)) + 1
	for i, out := range d.TxOut {
		out.Value = left / int64(len(d.TxOut))
		if i == 0 {
			out.Value += left % int64(len(d.TxOut))
		}
	}
}

// rate is a fee rate, which is often near a limit.
func (w *world) rate() int64 {
	return [...]int64{
		0, 0, 90, 99, 100, 101, 110, 200, 1000, 1001, 5000, 20_000, 100_000, 9_990_000, 10_100_000, 20_000_000,
	}[w.IntN(16)]
}

// single makes a transaction, which is right more often than not.
func (w *world) single() *wire.MsgTx {
	d := w.draft(1+w.IntN(3)*w.IntN(2), w.IntN(2) == 0)
	w.pay(d, 1+w.IntN(4), w.rate())
	if w.IntN(3) == 0 {
		w.change(d.MsgTx)
	}
	return d.MsgTx
}

// replacement spends what transactions of the pool spend.
func (w *world) replacement() *wire.MsgTx {
	d := &draft{MsgTx: wire.NewMsgTx(2)}
	fee := int64(0)
	for range 1 + w.IntN(3)*w.IntN(2) {
		old := w.txs[w.pool[w.IntN(len(w.pool))]]
		if len(d.TxIn) == 0 {
			d.Version = old.Version
		}
		in := old.TxIn[w.IntN(len(old.TxIn))].PreviousOutPoint
		out := w.output(in)
		if out == nil {
			continue
		}
		d.add(in, out.Value, kindOf(out.PkScript))
		fee += w.feeOf(old)
	}
	if w.IntN(3) == 0 {
		if at, c, ok := w.free(w.IntN(2) == 0); ok {
			d.add(at, c.out.Value, c.kind)
		}
	}
	for range 1 + w.IntN(3) {
		d.AddTxOut(wire.NewTxOut(0, open.script()))
	}
	fee += [...]int64{-1, 0, 1, 9, 10, 11, 12, 13, 14, 15, 20, 50, 500, 5000, 100_000}[w.IntN(15)]
	for i, out := range d.TxOut {
		if i == 0 {
			out.Value = d.value - fee - 10_000*int64(len(d.TxOut)-1)
			continue
		}
		out.Value = 10_000
	}
	return d.MsgTx
}

// output returns an output of the chain or of a transaction that was sent.
func (w *world) output(at wire.OutPoint) *wire.TxOut {
	if tx := w.txs[at.Hash]; tx != nil && int(at.Index) < len(tx.TxOut) {
		return tx.TxOut[at.Index]
	}
	return nil
}

func (w *world) feeOf(tx *wire.MsgTx) (fee int64) {
	for _, in := range tx.TxIn {
		if out := w.output(in.PreviousOutPoint); out != nil {
			fee += out.Value
		}
	}
	for _, out := range tx.TxOut {
		fee -= out.Value
	}
	return fee
}

// family makes parents with a child that spends from them all.
func (w *world) family() []*wire.MsgTx {
	child := &draft{MsgTx: wire.NewMsgTx(2)}
	version := int32(2 + w.IntN(2))
	child.Version = version
	var txs []*wire.MsgTx
	for range 1 + w.IntN(3)*w.IntN(2) {
		parent := w.draft(1+w.IntN(5)/4, w.IntN(5) == 0)
		if parent.Version = version; w.IntN(20) == 0 {
			parent.Version = 2
		}
		rate := w.rate()
		if w.IntN(2) == 0 {
			rate = 0
		}
		w.pay(parent, 1+w.IntN(2), rate)
		if len(parent.TxOut) == 0 || len(parent.TxIn) == 0 {
			continue
		}
		if w.IntN(3) == 0 { // dust that has to be spent
			parent.AddTxOut(wire.NewTxOut(int64(w.IntN(300)), anchor.script()))
		}
		id := parent.TxHash()
		for n, out := range parent.TxOut {
			if n == 0 || w.IntN(4) != 0 {
				child.add(wire.OutPoint{Hash: id, Index: uint32(n)}, out.Value, kindOf(out.PkScript))
			}
		}
		txs = append(txs, parent.MsgTx)
	}
	if len(txs) > 1 && w.IntN(4) == 0 {
		if at, c, ok := w.free(true); ok {
			child.add(at, c.out.Value, c.kind)
		}
	}
	w.pay(child, 1+w.IntN(2), max(w.rate(), 100))
	txs = append(txs, child.MsgTx)
	switch w.IntN(30) {
	case 0:
		w.change(child.MsgTx)
	case 1:
		w.Shuffle(len(txs), func(i, j int) { txs[i], txs[j] = txs[j], txs[i] })
	case 2:
		txs = append(txs, txs[0])
	case 3:
		txs = append([]*wire.MsgTx{w.single()}, txs...)
	}
	return txs
}

// change breaks a rule, or comes close.
func (w *world) change(tx *wire.MsgTx) {
	if len(tx.TxIn) == 0 || len(tx.TxOut) == 0 {
		return
	}
	in, out := tx.TxIn[w.IntN(len(tx.TxIn))], tx.TxOut[w.IntN(len(tx.TxOut))]
	height := len(w.blocks) - 1
	switch w.IntN(24) {
	case 0:
		tx.Version = int32(w.IntN(7)) - 1
	case 1:
		tx.LockTime = uint32(height - 1 + w.IntN(4))
	case 2:
		tx.LockTime = uint32(w.now - int64(w.IntN(8000)))
	case 3:
		in.Sequence = uint32(w.IntN(120))
	case 4:
		in.Sequence = 1<<22 | uint32(w.IntN(200))
	case 5:
		out.Value = int64(w.IntN(700)) - 10
	case 6:
		out.Value = [...]int64{21e14, 21e14 + 1, -1, 1 << 62}[w.IntN(4)]
	case 7:
		tx.TxIn = append(tx.TxIn, in)
	case 8:
		tx.TxOut = nil
	case 9:
		in.Witness = nil
	case 10:
		in.Witness = append(wire.TxWitness{bytes.Repeat([]byte{1}, w.IntN(90))}, in.Witness...)
	case 11:
		in.SignatureScript = append(in.SignatureScript, txscript.OP_TRUE)
	case 12:
		in.SignatureScript = bytes.Repeat([]byte{0}, 1640+w.IntN(20))
	case 13:
		in.SignatureScript = append(in.SignatureScript, txscript.OP_NOP)
	case 14:
		in.PreviousOutPoint.Index += uint32(1 + w.IntN(3))
	case 15:
		in.PreviousOutPoint.Hash[5]++
	case 16:
		out.PkScript = append([]byte{txscript.OP_RETURN}, bytes.Repeat([]byte{txscript.OP_0}, w.IntN(200))...)
		out.Value = 0
	case 17:
		out.PkScript = [][]byte{
			{}, {txscript.OP_1}, {txscript.OP_1, 2, 0x4e, 0x73}, {txscript.OP_16, 2, 1, 1}, {0xff},
		}[w.IntN(5)]
	case 18:
		tx.TxOut = []*wire.TxOut{wire.NewTxOut(out.Value, bytes.Repeat([]byte{txscript.OP_RETURN}, w.IntN(20)))}
	case 19:
		in.PreviousOutPoint = wire.OutPoint{Index: wire.MaxPrevOutIndex}
	case 20:
		in.Sequence = wire.MaxTxInSequenceNum
	case 21:
		in.Witness = append(in.Witness, append([]byte{0x50}, bytes.Repeat([]byte{1}, w.IntN(40))...))
	case 22:
		n := w.IntN(3000)
		for range n {
			tx.AddTxOut(wire.NewTxOut(330, open.script()))
		}
		out.Value -= 330 * int64(n)
	case 23:
		out.Value -= int64(w.IntN(5_000_000))
	}
}
