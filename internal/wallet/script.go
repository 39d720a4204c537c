package wallet

import (
	"slices"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/book"
)

// script is an output script that is the wallet's, or that a transaction of the
// wallet pays to.
type script struct {
	bytes  []byte
	owners []owner   // the first came first; none: not the wallet's
	outs   []*output // of the wallet's transactions
	dest   book.Destination
}

// owner is a descriptor that has a script.
type owner struct {
	source *source
	index  int32
}

func (s *script) mine() bool { return len(s.owners) > 0 }

// change reports whether a script is taken for change: it is the wallet's, and
// nobody has given it a label.
func (w *Wallet) change(s *script) bool {
	return s.mine() && w.book.Label(s.dest) == nil
}

// script returns what is known of an output script, which is noted from now on.
func (w *Wallet) script(pkScript []byte) *script {
	s := w.scripts[string(pkScript)]
	if s == nil {
		s = &script{bytes: slices.Clone(pkScript), dest: book.DestinationOf(w.params.Network, pkScript)}
		w.scripts[string(s.bytes)] = s
	}
	return s
}

// own makes a script the wallet's. What was paid to it before counts from now on.
func (w *Wallet) own(pkScript []byte, by owner) *script {
	s := w.script(pkScript)
	if at := slices.IndexFunc(s.owners, func(o owner) bool { return o.source == by.source }); at >= 0 {
		s.owners[at].index = by.index
		return s
	}
	s.owners = append(s.owners, by)
	if len(s.owners) > 1 {
		return s
	}
	w.mine = append(w.mine, s.bytes)
	for _, out := range s.outs {
		w.refresh(out)
	}
	w.notePaid(s)
	return s
}

// notePaid tells the address book of an own script that was paid to.
func (w *Wallet) notePaid(s *script) {
	if s.mine() && len(s.outs) > 0 {
		w.book.MarkPaid(s.dest)
	}
}

// Scripts returns the scripts of the wallet in the order in which they came,
// each once. The list only grows, so its length is its version: who has tested
// blocks with the first n scripts need only test them with those from n on. A
// list stays what it is when the wallet gets further scripts, and can be read by
// any goroutine.
func (w *Wallet) Scripts() [][]byte { return w.mine[:len(w.mine):len(w.mine)] }

// IsMine reports whether an output script is the wallet's.
func (w *Wallet) IsMine(pkScript []byte) bool {
	s := w.scripts[string(pkScript)]
	return s != nil && s.mine()
}

// Relevant reports whether a transaction pays to the wallet, spends from it, or
// is known to it.
func (w *Wallet) Relevant(transaction *wire.MsgTx) bool {
	return w.txs[transaction.TxHash()] != nil || w.paysMe(transaction) || w.fromMe(transaction)
}

func (w *Wallet) paysMe(transaction *wire.MsgTx) bool {
	return slices.ContainsFunc(transaction.TxOut, func(out *wire.TxOut) bool { return w.IsMine(out.PkScript) })
}

// fromMe reports whether a transaction spends from the wallet.
func (w *Wallet) fromMe(transaction *wire.MsgTx) bool {
	return slices.ContainsFunc(transaction.TxIn, func(in *wire.TxIn) bool {
		return w.ownOutput(in.PreviousOutPoint) != nil
	})
}

// ownOutput returns an output of the wallet's transactions that is the
// wallet's, or nil.
func (w *Wallet) ownOutput(at wire.OutPoint) *output {
	t := w.txs[at.Hash]
	if t == nil || int64(at.Index) >= int64(len(t.outs)) || !t.outs[at.Index].script.mine() {
		return nil
	}
	return t.outs[at.Index]
}
