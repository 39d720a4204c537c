package script

import (
	"crypto/sha256"
	"sync"

	"github.com/btcsuite/btcd/wire"
)

// A Spend is a transaction with the outputs that it spends. It keeps what the
// signatures of several inputs hash, which it computes when a signature first
// needs it. Inputs may be verified concurrently.
type Spend struct {
	tx    *wire.MsgTx
	spent []*wire.TxOut

	onceTx sync.Once
	tx1    txHashes // hashed once
	tx2    txHashes // and twice

	onceSpent sync.Once
	amounts   [32]byte
	scripts   [32]byte
	allKnown  bool // no coin is missing

	onceBlank sync.Once
	blank     blankTx
}

// txHashes are hashes of parts of a transaction.
type txHashes struct{ prevouts, sequences, outputs [32]byte }

// NewSpend returns a transaction to be verified. spent are the outputs that its
// inputs spend, one for each, in their order. An output that is not known is nil,
// or has a negative value: then signatures that need it are wrong. Neither tx nor
// spent may change while the Spend is used.
func NewSpend(tx *wire.MsgTx, spent []*wire.TxOut) *Spend {
	return &Spend{tx: tx, spent: spent}
}

// unknownOutput stands for an output that is not known.
var unknownOutput = &wire.TxOut{Value: -1}

// output is what an input spends.
func (s *Spend) output(i int) *wire.TxOut {
	if i >= len(s.spent) || s.spent[i] == nil {
		return unknownOutput
	}
	return s.spent[i]
}

// hashTx computes the hashes of the parts of the transaction.
func (s *Spend) hashTx() {
	d := newDigest()
	defer d.release()
	for _, in := range s.tx.TxIn {
		d.outpoint(&in.PreviousOutPoint)
	}
	s.tx1.prevouts = d.sum()
	d.reset()
	for _, in := range s.tx.TxIn {
		d.put32(in.Sequence)
	}
	s.tx1.sequences = d.sum()
	d.reset()
	for _, out := range s.tx.TxOut {
		d.output(out)
	}
	s.tx1.outputs = d.sum()
	s.tx2 = txHashes{
		sha256.Sum256(s.tx1.prevouts[:]), sha256.Sum256(s.tx1.sequences[:]), sha256.Sum256(s.tx1.outputs[:]),
	}
}

// hashSpent computes the hashes of the outputs that are spent.
func (s *Spend) hashSpent() {
	s.allKnown = true
	amounts, scripts := newDigest(), newDigest()
	defer amounts.release()
	defer scripts.release()
	for i := range s.tx.TxIn {
		out := s.output(i)
		s.allKnown = s.allKnown && out != unknownOutput && out.Value >= 0
		amounts.put64(uint64(out.Value))
		scripts.script(out.PkScript)
	}
	s.amounts, s.scripts = amounts.sum(), scripts.sum()
}

// TrustInput is VerifyInput with signatures that are right unless they are empty, and with lock times that
// have passed. Their encodings are checked.
func (s *Spend) TrustInput(i int, flags Flags) error {
	m := newMachine(s, i, flags)
	defer m.release()
	m.trusted = true
	if e := m.verify(); e != none {
		return e
	}
	return nil
}

// VerifyInput executes the scripts of an input, by its number. The error is an
// [Error].
func (s *Spend) VerifyInput(i int, flags Flags) error {
	m := newMachine(s, i, flags)
	defer m.release()
	if e := m.verify(); e != none {
		return e
	}
	return nil
}
