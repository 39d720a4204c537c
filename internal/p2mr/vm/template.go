package vm

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"github.com/btcsuite/btcd/wire"
)

// A Template is the part of a transaction that OP_CHECKTEMPLATEVERIFY compares (BIP119).
type Template struct {
	Version, LockTime    uint32
	Inputs, Outputs      uint32            // their numbers
	HasScripts           bool              // an input has a script, so that the hash covers Scripts
	Scripts              [sha256.Size]byte // hash of the scripts of all inputs
	Sequences, OutputSum [sha256.Size]byte // hashes of all sequence numbers and of all outputs
}

// NewTemplate returns the template of a transaction.
func NewTemplate(tx *wire.MsgTx) *Template {
	t := &Template{
		Version: uint32(tx.Version), LockTime: tx.LockTime,
		Inputs: uint32(len(tx.TxIn)), Outputs: uint32(len(tx.TxOut)),
	}
	var scripts, sequences, outputs bytes.Buffer
	for _, in := range tx.TxIn {
		t.HasScripts = t.HasScripts || len(in.SignatureScript) > 0
		_ = wire.WriteVarBytes(&scripts, 0, in.SignatureScript) // buffers take everything
		sequences.Write(binary.LittleEndian.AppendUint32(nil, in.Sequence))
	}
	for _, out := range tx.TxOut {
		_ = wire.WriteTxOut(&outputs, 0, 0, out)
	}
	t.Scripts = sha256.Sum256(scripts.Bytes())
	t.Sequences = sha256.Sum256(sequences.Bytes())
	t.OutputSum = sha256.Sum256(outputs.Bytes())
	return t
}

// Hash returns the hash that a script names to be spent by an input of the transaction.
func (t *Template) Hash(input int) [sha256.Size]byte {
	order := binary.LittleEndian
	all := order.AppendUint32(order.AppendUint32(nil, t.Version), t.LockTime)
	if t.HasScripts {
		all = append(all, t.Scripts[:]...)
	}
	all = append(order.AppendUint32(all, t.Inputs), t.Sequences[:]...)
	all = append(order.AppendUint32(all, t.Outputs), t.OutputSum[:]...)
	return sha256.Sum256(order.AppendUint32(all, uint32(input)))
}
