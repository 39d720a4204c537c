package script

import "encoding/binary"

// Hash types: what of a transaction a signature signs.
const (
	hashAll          = 1
	hashNone         = 2
	hashSingle       = 3
	hashAnyone       = 0x80
	legacyOutputMask = 0x1f
	outputMask       = 3
)

// blankTx is a transaction without the scripts of its inputs, serialized.
type blankTx struct {
	bytes   []byte
	inputs  int // where the inputs begin, each of blankInput bytes
	outputs int // where the outputs begin, with their number
}

// blankInput is the size of an input without its script.
const blankInput = 36 + 1 + 4

func (s *Spend) makeBlank() {
	tx := s.tx
	size := 4 + 9 + blankInput*len(tx.TxIn) + 9 + 4
	for _, out := range tx.TxOut {
		size += 8 + 9 + len(out.PkScript)
	}
	b := make([]byte, 0, size)
	b = binary.LittleEndian.AppendUint32(b, uint32(tx.Version))
	b = appendSize(b, len(tx.TxIn))
	s.blank.inputs = len(b)
	for _, in := range tx.TxIn {
		b = append(b, in.PreviousOutPoint.Hash[:]...)
		b = binary.LittleEndian.AppendUint32(b, in.PreviousOutPoint.Index)
		b = append(b, 0)
		b = binary.LittleEndian.AppendUint32(b, in.Sequence)
	}
	s.blank.outputs = len(b)
	b = appendSize(b, len(tx.TxOut))
	for _, out := range tx.TxOut {
		b = binary.LittleEndian.AppendUint64(b, uint64(out.Value))
		b = append(appendSize(b, len(out.PkScript)), out.PkScript...)
	}
	s.blank.bytes = binary.LittleEndian.AppendUint32(b, tx.LockTime)
}

// LegacySigHash returns what a signature of an input by ECDSA signs outside of
// witnesses. code is the script from the last OP_CODESEPARATOR that was executed.
func (s *Spend) LegacySigHash(i int, code []byte, hashType uint32) [32]byte {
	if s.signsNothing(i, hashType) {
		return [32]byte{1}
	}
	d := newDigest()
	defer d.release()
	s.writeLegacy(d, i, code, hashType)
	d.put32(hashType)
	return d.double()
}

// signsNothing reports whether a legacy hash type asks for the output beside an
// input that has none, for which the hash is 1.
func (s *Spend) signsNothing(i int, hashType uint32) bool {
	return hashType&legacyOutputMask == hashSingle && i >= len(s.tx.TxOut)
}

// writeLegacy writes what is signed outside of witnesses, but for the hash type.
func (s *Spend) writeLegacy(d *digest, i int, code []byte, hashType uint32) {
	s.onceBlank.Do(s.makeBlank)
	blank := &s.blank
	own := blank.inputs + i*blankInput
	output := hashType & legacyOutputMask
	free := output == hashNone || output == hashSingle // of the other inputs' sequences
	switch {
	case hashType&hashAnyone != 0:
		d.bytes(blank.bytes[:4])
		d.byte(1)
		d.bytes(blank.bytes[own : own+36])
		writeCode(d, code)
		d.put32(s.tx.TxIn[i].Sequence)
	case free:
		d.bytes(blank.bytes[:blank.inputs])
		for j, in := range s.tx.TxIn {
			d.outpoint(&in.PreviousOutPoint)
			if j == i {
				writeCode(d, code)
				d.put32(in.Sequence)
				continue
			}
			d.byte(0)
			d.put32(0)
		}
	default:
		d.bytes(blank.bytes[:own+36])
		writeCode(d, code)
		d.bytes(blank.bytes[own+37 : blank.outputs])
	}
	switch output {
	case hashNone:
		d.byte(0)
		d.put32(s.tx.LockTime)
	case hashSingle:
		d.size(i + 1)
		for range i {
			d.put64(^uint64(0))
			d.byte(0)
		}
		d.output(s.tx.TxOut[i])
		d.put32(s.tx.LockTime)
	default:
		d.bytes(blank.bytes[blank.outputs:])
	}
}

// writeCode writes a script without its OP_CODESEPARATORs. If the script ends in
// the middle of a push, the pushed bytes are not written, although the length
// counts them.
func writeCode(d *digest, code []byte) {
	separators, end := 0, 0
	for good := true; good && end < len(code); {
		var op byte
		if op, _, end, good = next(code, end); good && op == opCodeSeparator {
			separators++
		}
	}
	d.size(len(code) - separators)
	if separators == 0 {
		d.bytes(code[:end])
		return
	}
	from := 0
	for at := 0; at < end; {
		op, _, after, good := next(code, at)
		if !good {
			break
		}
		if op == opCodeSeparator {
			d.bytes(code[from:at])
			from = after
		}
		at = after
	}
	d.bytes(code[from:end])
}

// WitnessSigHash returns what a signature of an input by ECDSA signs in witnesses
// of version 0 (BIP143). code is the script from the last OP_CODESEPARATOR that
// was executed.
func (s *Spend) WitnessSigHash(i int, code []byte, hashType uint32) [32]byte {
	d := newDigest()
	defer d.release()
	s.writeWitness(d, i, code, hashType)
	d.put32(hashType)
	return d.double()
}

// writeWitness writes what is signed in witnesses of version 0, but for the hash
// type.
func (s *Spend) writeWitness(d *digest, i int, code []byte, hashType uint32) {
	var prevouts, sequences, outputs [32]byte
	output := hashType & legacyOutputMask
	all := output != hashNone && output != hashSingle
	if all || hashType&hashAnyone == 0 {
		s.onceTx.Do(s.hashTx)
	}
	if hashType&hashAnyone == 0 {
		prevouts = s.tx2.prevouts
		if all {
			sequences = s.tx2.sequences
		}
	}
	switch {
	case all:
		outputs = s.tx2.outputs
	case output == hashSingle && i < len(s.tx.TxOut):
		d.output(s.tx.TxOut[i])
		outputs = d.double()
		d.reset()
	}
	in := s.tx.TxIn[i]
	d.put32(uint32(s.tx.Version))
	d.bytes(prevouts[:])
	d.bytes(sequences[:])
	d.outpoint(&in.PreviousOutPoint)
	d.script(code)
	d.put64(uint64(s.output(i).Value))
	d.put32(in.Sequence)
	d.bytes(outputs[:])
	d.put32(s.tx.LockTime)
}
