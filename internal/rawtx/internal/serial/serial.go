// Package serial takes apart serialized transactions and what is made of the
// same parts. No length in them is trusted: nothing is allocated that the bytes
// do not back.
package serial

import (
	"encoding/binary"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// Errors of any serialized data.
const (
	ErrEndOfData    = Error("DataStream::read(): end of data")
	ErrEndOfPart    = Error("SpanReader::read(): end of data")
	ErrNotCanonical = Error("non-canonical ReadCompactSize()")
	ErrTooLarge     = Error("ReadCompactSize(): size too large")
	ErrSuperfluous  = Error("Superfluous witness record")
	ErrUnknownFlags = Error("Unknown transaction optional data")
)

// An Error is what is wrong with serialized data, in Core's words.
type Error string

// Error implements error.
func (e Error) Error() string { return string(e) }

// A Reader takes values off the front of Rest. After the first that is not there
// it has an error, and gives zero values.
type Reader struct {
	Rest []byte
	Err  error // the first
	Part bool  // Rest was cut out of something larger; Core has other words then
}

func (r *Reader) endOfData() error {
	if r.Part {
		return ErrEndOfPart
	}
	return ErrEndOfData
}

func (r *Reader) fail(err error) {
	if r.Err == nil {
		r.Err, r.Rest = err, nil
	}
}

// Bytes returns the next n bytes, with no room to append to.
func (r *Reader) Bytes(n uint64) []byte {
	if r.Err != nil || n > uint64(len(r.Rest)) {
		r.fail(r.endOfData())
		return nil
	}
	b := r.Rest[:n:n]
	r.Rest = r.Rest[n:]
	return b
}

// Byte reads a byte.
func (r *Reader) Byte() byte {
	if b := r.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// Uint32 reads a little-endian number.
func (r *Reader) Uint32() uint32 {
	if b := r.Bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// Uint64 reads a little-endian number.
func (r *Reader) Uint64() uint64 {
	if b := r.Bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// maxCompactSize is the largest number that Core reads as a length (MAX_SIZE).
const maxCompactSize = 0x02000000

// CompactSize reads a length or a count, which must be in its shortest form.
func (r *Reader) CompactSize() uint64 {
	var n, least uint64
	switch first := r.Byte(); first {
	case 0xfd:
		if b := r.Bytes(2); b != nil {
			n = uint64(binary.LittleEndian.Uint16(b))
		}
		least = 0xfd
	case 0xfe:
		n, least = uint64(r.Uint32()), 1<<16
	case 0xff:
		n, least = r.Uint64(), 1<<32
	default:
		n = uint64(first)
	}
	switch {
	case n < least && r.Err == nil:
		r.fail(ErrNotCanonical)
		return 0
	case n > maxCompactSize:
		r.fail(ErrTooLarge)
		return 0
	}
	return n
}

// VarBytes reads bytes behind their length.
func (r *Reader) VarBytes() []byte { return r.Bytes(r.CompactSize()) }

// list reads items behind their number. Of a number that the data do not back it
// reads those that are there: what is wrong with one of them is told before the
// end of the data. The smallest size of an item bounds what is allocated.
func list[T any](r *Reader, smallest int, next func() T) []T {
	n := r.CompactSize()
	items := make([]T, 0, min(n, uint64(len(r.Rest)/smallest)))
	for range n {
		if item := next(); r.Err == nil {
			items = append(items, item)
			continue
		}
		break
	}
	return items
}

// Smallest sizes of what lists hold.
const (
	minInput       = chainhash.HashSize + 4 + 1 + 4
	minOutput      = 8 + 1
	minWitnessItem = 1
)

// Tx reads a transaction; with witness, also in the form of BIP144.
func (r *Reader) Tx(witness bool) *wire.MsgTx {
	tx := &wire.MsgTx{Version: int32(r.Uint32())}
	tx.TxIn = r.inputs()
	flags := byte(0)
	if witness && len(tx.TxIn) == 0 {
		if flags = r.Byte(); flags != 0 {
			tx.TxIn = r.inputs()
			tx.TxOut = r.outputs()
		}
	} else {
		tx.TxOut = r.outputs()
	}
	if flags&wire.WitnessFlag != 0 {
		for _, in := range tx.TxIn {
			in.Witness = r.Witness()
		}
		if !tx.HasWitness() {
			r.fail(ErrSuperfluous)
		}
	}
	if flags > wire.WitnessFlag {
		r.fail(ErrUnknownFlags)
	}
	tx.LockTime = r.Uint32()
	return tx
}

func (r *Reader) inputs() []*wire.TxIn { return list(r, minInput, r.input) }

func (r *Reader) input() *wire.TxIn {
	in := new(wire.TxIn)
	copy(in.PreviousOutPoint.Hash[:], r.Bytes(chainhash.HashSize))
	in.PreviousOutPoint.Index = r.Uint32()
	in.SignatureScript = r.VarBytes()
	in.Sequence = r.Uint32()
	return in
}

func (r *Reader) outputs() []*wire.TxOut { return list(r, minOutput, r.Output) }

// Output reads an output.
func (r *Reader) Output() *wire.TxOut {
	value := int64(r.Uint64())
	return &wire.TxOut{Value: value, PkScript: r.VarBytes()}
}

// Witness reads a stack.
func (r *Reader) Witness() wire.TxWitness { return list(r, minWitnessItem, r.VarBytes) }
