package p2mr

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
)

// ErrSigHashType reports an undefined hash type, or a type that signs the
// output of the input's number where the transaction has no such output.
var ErrSigHashType = errors.New("invalid signature hash type")

// ErrPrevOuts reports a transaction with another number of inputs than of
// outputs that they spend.
var ErrPrevOuts = errors.New("number of spent outputs is not that of inputs")

// NoCodeSeparator is the position of the last code separator if none was
// executed.
const NoCodeSeparator uint32 = 0xffffffff

// A SigHasher computes what the inputs of one transaction sign: BIP341's
// message as BIP342 extends it, with P2MR's tags. It may be used by many
// goroutines.
type SigHasher struct {
	tx       *wire.MsgTx
	prevOuts []*wire.TxOut

	outpoints, amounts, scripts, sequences, outputs Hash
}

// NewSigHasher takes a transaction and the outputs that it spends, in the order
// of its inputs. Neither may change afterwards.
//
// Errors: [ErrPrevOuts].
func NewSigHasher(tx *wire.MsgTx, prevOuts []*wire.TxOut) (*SigHasher, error) {
	if len(prevOuts) != len(tx.TxIn) {
		return nil, fmt.Errorf("%d inputs spend %d outputs: %w", len(tx.TxIn), len(prevOuts), ErrPrevOuts)
	}
	h := &SigHasher{tx: tx, prevOuts: prevOuts}
	var outpoints, amounts, scripts, sequences, outputs bytes.Buffer
	for i, in := range tx.TxIn {
		writeOutPoint(&outpoints, &in.PreviousOutPoint)
		writeUint64(&amounts, uint64(prevOuts[i].Value))
		writeBytes(&scripts, prevOuts[i].PkScript)
		writeUint32(&sequences, in.Sequence)
	}
	for _, out := range tx.TxOut {
		writeOutput(&outputs, out)
	}
	h.outpoints = sha256.Sum256(outpoints.Bytes())
	h.amounts = sha256.Sum256(amounts.Bytes())
	h.scripts = sha256.Sum256(scripts.Bytes())
	h.sequences = sha256.Sum256(sequences.Bytes())
	h.outputs = sha256.Sum256(outputs.Bytes())
	return h, nil
}

// A Spend is a signature's view of the input that it is in.
type Spend struct {
	Input         int    // from 0 to the number of inputs
	Leaf          Hash   // of the script that is executed
	Annex         []byte // with its first byte, 0x50; empty if there is none
	CodeSeparator uint32 // position of the last that was executed, or NoCodeSeparator
}

// Hash returns the message that a signature of the hash type signs.
//
// Errors: [ErrSigHashType].
func (h *SigHasher) Hash(hashType txscript.SigHashType, spend *Spend) (Hash, error) {
	message, err := h.message(hashType, spend)
	if err != nil {
		return Hash{}, err
	}
	return tagSigHash.hash(message), nil
}

// message returns what Hash hashes.
func (h *SigHasher) message(hashType txscript.SigHashType, spend *Spend) ([]byte, error) {
	const sigHashMask = txscript.SigHashAll | txscript.SigHashNone | txscript.SigHashSingle
	outputs, anyone := hashType&sigHashMask, hashType&txscript.SigHashAnyOneCanPay != 0
	valid := hashType == txscript.SigHashDefault || outputs != 0 &&
		hashType&^(sigHashMask|txscript.SigHashAnyOneCanPay) == 0
	single := outputs == txscript.SigHashSingle
	if !valid || single && spend.Input >= len(h.tx.TxOut) {
		return nil, fmt.Errorf("type 0x%02x of input %d: %w", uint32(hashType), spend.Input, ErrSigHashType)
	}
	var b bytes.Buffer
	b.Write([]byte{0, byte(hashType)}) // the epoch is 0
	writeUint32(&b, uint32(h.tx.Version))
	writeUint32(&b, h.tx.LockTime)
	if !anyone {
		for _, of := range []*Hash{&h.outpoints, &h.amounts, &h.scripts, &h.sequences} {
			b.Write(of[:])
		}
	}
	if outputs != txscript.SigHashNone && !single {
		b.Write(h.outputs[:])
	}
	h.writeSpend(&b, spend, anyone)
	if single {
		var output bytes.Buffer
		writeOutput(&output, h.tx.TxOut[spend.Input])
		sum := sha256.Sum256(output.Bytes())
		b.Write(sum[:])
	}
	b.Write(spend.Leaf[:])
	b.WriteByte(0) // version of the key
	writeUint32(&b, spend.CodeSeparator)
	return b.Bytes(), nil
}

// writeSpend writes what is signed of the input itself.
func (h *SigHasher) writeSpend(b *bytes.Buffer, spend *Spend, anyone bool) {
	const scriptSpend, withAnnex = 2, 1
	kind := byte(scriptSpend)
	if len(spend.Annex) > 0 {
		kind |= withAnnex
	}
	b.WriteByte(kind)
	if anyone {
		in := h.tx.TxIn[spend.Input]
		writeOutPoint(b, &in.PreviousOutPoint)
		writeOutput(b, h.prevOuts[spend.Input])
		writeUint32(b, in.Sequence)
	} else {
		writeUint32(b, uint32(spend.Input))
	}
	if len(spend.Annex) > 0 {
		var annex bytes.Buffer
		writeBytes(&annex, spend.Annex)
		sum := sha256.Sum256(annex.Bytes())
		b.Write(sum[:])
	}
}

// DataHash returns the message that a signature of data signs, which is not in
// any transaction.
func DataHash(data Hash) Hash { return tagData.hash(data[:]) }

func writeOutPoint(b *bytes.Buffer, point *wire.OutPoint) {
	b.Write(point.Hash[:])
	writeUint32(b, point.Index)
}

func writeOutput(b *bytes.Buffer, out *wire.TxOut) {
	writeUint64(b, uint64(out.Value))
	writeBytes(b, out.PkScript)
}

func writeBytes(b *bytes.Buffer, raw []byte) {
	_ = wire.WriteVarBytes(b, 0, raw) // a buffer takes everything
}

func writeUint32(b *bytes.Buffer, n uint32) {
	b.Write(binary.LittleEndian.AppendUint32(b.AvailableBuffer(), n))
}

func writeUint64(b *bytes.Buffer, n uint64) {
	b.Write(binary.LittleEndian.AppendUint64(b.AvailableBuffer(), n))
}
