package psbt

import (
	"encoding/binary"
	"maps"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/rawtx/internal/serial"
)

// Types of version 2 (BIP370) that may be absent, all others become a part of [Packet.Tx]. A packet of version 0
// has none of them, whatever stands in it: they are greater than any type that can be read.
const (
	FallbackLockTime uint64 = 1<<33 + iota // of the transaction, unless an input requires one
	TxModifiable                           // one byte of flags
	Sequence                               // of an input
	TimeLock                               // least lock time of an input, as a time
	HeightLock                             // the same, as a height

	txVersion
	inputCount
	outputCount
	previousTxID
	outputIndex
	outAmount
	outScript
)

// Flags of [TxModifiable].
const (
	InputsModifiable byte = 1 << iota
	OutputsModifiable
	HasSigHashSingle // inputs and outputs with the same index stay together
)

// A v2Field is a type of version 2: how errors of Core call it, and what its value is.
type v2Field struct {
	written  byte
	kind     uint64
	name     string // where the size of the key is wrong
	refused  string // where version 0 has it
	required string // where it is missing; "": it may be
	read     valueReader
}

var (
	v2Global = []v2Field{
		{
			written: 0x02, kind: txVersion, name: "Global Transaction Version", read: exactly(4),
			refused: "PSBT_GLOBAL_TX_VERSION", required: "PSBT_GLOBAL_TX_VERSION",
		},
		{
			written: 0x03, kind: FallbackLockTime, name: "Global Fallback Locktime", read: exactly(4),
			refused: "PSBT_GLOBAL_FALLBACK_LOCKTIME",
		},
		{
			written: 0x04, kind: inputCount, name: "Global Input Count", read: readCount,
			refused: "PSBT_GLOBAL_INPUT_COUNT", required: "PSBT_GLOBAL_INPUT_COUNT",
		},
		{
			written: 0x05, kind: outputCount, name: "Global Output Count", read: readCount,
			refused: "PSBT_GLOBAL_OUTPUT_COUNT", required: "PSBT_GLOBAL_OUTPUT_COUNT",
		},
		{
			written: 0x06, kind: TxModifiable, name: "Global TX Modifiable Flags", read: exactly(1),
			refused: "PSBT_GLOBAL_TX_MODIFIABLE",
		},
	}
	v2Input = []v2Field{
		{
			written: 0x0e, kind: previousTxID, name: "Input Previous TXID", read: exactly(chainhash.HashSize),
			refused: "Previous txid", required: "Previous TXID",
		},
		{
			written: 0x0f, kind: outputIndex, name: "Input Previous Output's Index", read: exactly(4),
			refused: "Previous output's index", required: "Previous output's index",
		},
		{written: 0x10, kind: Sequence, name: "Input Sequence", read: exactly(4), refused: "Sequence"},
		{
			written: 0x11, kind: TimeLock, name: "Input Required Time Based Locktime",
			read: checked((*serial.Reader).Uint32, checkTimeLock), refused: "Required time based locktime",
		},
		{
			written: 0x12, kind: HeightLock, name: "Input Required Height Based Locktime",
			read: checked((*serial.Reader).Uint32, checkHeightLock), refused: "Required height based locktime",
		},
	}
	v2Output = []v2Field{
		{
			written: 0x03, kind: outAmount, name: "Output Amount", read: exactly(8),
			refused: "Output amount", required: "Output amount",
		},
		{
			written: 0x04, kind: outScript, name: "Output Script",
			refused: "Output script", required: "Output script",
		},
	}
)

var readCount = part((*serial.Reader).CompactSize)

func checkTimeLock(time uint32) error {
	if time < txscript.LockTimeThreshold {
		return serial.Error("Required time based locktime is invalid (less than 500000000)")
	}
	return nil
}

func checkHeightLock(height uint32) error {
	switch {
	case height >= txscript.LockTimeThreshold:
		return serial.Error("Required height based locktime is invalid (greater than or equal to 500000000)")
	case height == 0:
		return serial.Error("Required height based locktime is invalid (0)")
	}
	return nil
}

// with returns a set of rules with those of fields, for version 2 or, where they are refused, for version 0.
func (s *ruleSet) with(fields []v2Field, refuse bool) *ruleSet {
	set := *s
	set.types = maps.Clone(s.types)
	for _, f := range fields {
		r := rule{sizes: onlyType, name: f.name, meaning: f.kind, read: f.read}
		if refuse {
			r.key = func([]byte) error { return serial.Error(f.refused + " is not allowed in PSBTv0") }
		}
		set.types[uint64(f.written)] = r
	}
	return &set
}

// checkRequired returns an error if a map lacks a field that version 2 requires.
func checkRequired(m Map, fields []v2Field) error {
	for _, f := range fields {
		if f.required != "" && !m.Has(f.kind) {
			return serial.Error(f.required + " is required in PSBTv2")
		}
	}
	return nil
}

// begin takes the transaction, or what version 2 has of it, out of the global map. It returns how many maps of
// inputs and of outputs follow.
func (p *Packet) begin() (inputs, outputs uint64, err error) {
	p.Global.Drop(Version)
	unsigned, isWhole := p.Global.take(UnsignedTx)
	switch {
	case p.Version == 1:
		return 0, 0, serial.Error("There is no PSBT version 1")
	case p.Version == 2:
		return p.beginV2(isWhole)
	case !isWhole:
		return 0, 0, serial.Error("No unsigned transaction was provided")
	}
	for _, f := range v2Global {
		if p.Global.Has(f.kind) {
			return 0, 0, serial.Error(f.refused + " is not allowed in PSBTv0")
		}
	}
	p.Tx = NewValue(unsigned).Tx(false) // which globalRules has read before
	return uint64(len(p.Tx.TxIn)), uint64(len(p.Tx.TxOut)), nil
}

func (p *Packet) beginV2(isWhole bool) (inputs, outputs uint64, err error) {
	if err := checkRequired(p.Global, v2Global); err != nil {
		return 0, 0, err
	}
	if isWhole {
		return 0, 0, serial.Error("PSBT_GLOBAL_UNSIGNED_TX is not allowed in PSBTv2")
	}
	version, _ := p.Global.take(txVersion)
	p.Tx = &wire.MsgTx{Version: int32(binary.LittleEndian.Uint32(version))}
	in, _ := p.Global.take(inputCount)
	out, _ := p.Global.take(outputCount)
	return NewValue(in).CompactSize(), NewValue(out).CompactSize(), nil
}

// takeInput takes what an input spends out of its map.
func (p *Packet) takeInput(m *Map) error {
	if err := checkRequired(*m, v2Input); err != nil {
		return err
	}
	id, _ := m.take(previousTxID)
	index, _ := m.take(outputIndex)
	at := wire.OutPoint{Hash: chainhash.Hash(id), Index: binary.LittleEndian.Uint32(index)}
	p.Tx.TxIn = append(p.Tx.TxIn, wire.NewTxIn(&at, nil, nil))
	return nil
}

// takeOutput takes what an output pays out of its map.
func (p *Packet) takeOutput(m *Map) error {
	if err := checkRequired(*m, v2Output); err != nil {
		return err
	}
	amount, _ := m.take(outAmount)
	script, _ := m.take(outScript)
	p.Tx.TxOut = append(p.Tx.TxOut, wire.NewTxOut(int64(binary.LittleEndian.Uint64(amount)), script))
	return nil
}

// settle puts into the transaction of version 2 what its inputs say of their sequence numbers and of its lock
// time.
func (p *Packet) settle() {
	for i, in := range p.Tx.TxIn {
		in.Sequence = wire.MaxTxInSequenceNum
		if sequence, ok := p.Inputs[i].Number(Sequence); ok {
			in.Sequence = sequence
		}
	}
	lock, ok := p.lockTime()
	p.Tx.LockTime, p.NoTx = lock, !ok
}

// lockTime returns the lock time by which all inputs are content: a height, if none requires a time only. It is
// false where some require a time, and others a height.
func (p *Packet) lockTime() (lock uint32, ok bool) {
	var height, time uint32 // 0: none is required
	onlyHeight, onlyTime := false, false
	for _, in := range p.Inputs {
		h, hasHeight := in.Number(HeightLock)
		t, hasTime := in.Number(TimeLock)
		height, time = max(height, h), max(time, t)
		onlyHeight = onlyHeight || hasHeight && !hasTime
		onlyTime = onlyTime || hasTime && !hasHeight
	}
	switch {
	case onlyHeight && onlyTime:
		return 0, false
	case height > 0 && !onlyTime:
		return height, true
	case time > 0:
		return time, true
	}
	lock, _ = p.Global.Number(FallbackLockTime)
	return lock, true
}

// Number returns a value of four bytes that is there at most once.
func (m Map) Number(kind uint64) (uint32, bool) {
	raw, ok := m.One(kind)
	if !ok {
		return 0, false
	}
	return binary.LittleEndian.Uint32(raw), true
}

// putNumber sets a value of four bytes.
func (m *Map) putNumber(kind uint64, n uint32) {
	m.Put(kind, nil, binary.LittleEndian.AppendUint32(nil, n))
}

// take removes the value of a type that is there at most once.
func (m *Map) take(kind uint64) ([]byte, bool) {
	value, ok := m.One(kind)
	m.Drop(kind)
	return value, ok
}

// maps returns the maps as they are written, with the fields that are a part of the transaction in memory.
func (p *Packet) maps() (global Map, inputs, outputs []Map) {
	global = append(Map(nil), p.Global...)
	if p.Version == 0 {
		global.Put(UnsignedTx, nil, Serialize(p.Tx, false))
		return global, p.Inputs, p.Outputs
	}
	global.putNumber(Version, p.Version)
	global.putNumber(txVersion, uint32(p.Tx.Version))
	global.Put(inputCount, nil, compactSize(uint64(len(p.Inputs))))
	global.Put(outputCount, nil, compactSize(uint64(len(p.Outputs))))
	for i, in := range p.Tx.TxIn {
		m := append(Map(nil), p.Inputs[i]...)
		m.Put(previousTxID, nil, in.PreviousOutPoint.Hash[:])
		m.putNumber(outputIndex, in.PreviousOutPoint.Index)
		inputs = append(inputs, m)
	}
	for i, out := range p.Tx.TxOut {
		m := append(Map(nil), p.Outputs[i]...)
		m.Put(outAmount, nil, binary.LittleEndian.AppendUint64(nil, uint64(out.Value)))
		m.Put(outScript, nil, out.PkScript)
		outputs = append(outputs, m)
	}
	return global, inputs, outputs
}

// NoteSignature takes back what a signature with a hash type forbids to modify.
func (p *Packet) NoteSignature(hashType txscript.SigHashType) {
	raw, ok := p.Global.One(TxModifiable)
	if !ok {
		return
	}
	const kinds = txscript.SigHashAll | txscript.SigHashNone | txscript.SigHashSingle
	flags := raw[0]
	if hashType&txscript.SigHashAnyOneCanPay == 0 {
		flags &^= InputsModifiable
	}
	if hashType&kinds != txscript.SigHashNone {
		flags &^= OutputsModifiable
	}
	if hashType&kinds == txscript.SigHashSingle {
		flags |= HasSigHashSingle
	}
	p.Global.Put(TxModifiable, nil, []byte{flags})
}

// mergeModifiable keeps of what two packets allow to modify what both allow.
func (m *Map) mergeModifiable(other Map) {
	flags := func(m Map) (byte, bool) {
		raw, ok := m.One(TxModifiable)
		if !ok {
			return 0, false
		}
		return raw[0], true
	}
	own, has := flags(*m)
	others, otherHas := flags(other)
	if has || otherHas {
		m.Put(TxModifiable, nil, []byte{own&others | (own|others)&HasSigHashSingle})
	}
}
