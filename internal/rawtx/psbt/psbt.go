// Package psbt reads and writes partially signed transactions (BIP174, BIP370)
// with the checks and errors of Bitcoin Core 30.2, or those of Core 32
// (src/psbt.h).
//
// It exists beside btcutil's psbt because btcutil refuses or forgets fields
// that Core knows, such as preimages, and panics on crafted counts.
//
// The package is pure. Texts may come from anyone: nothing panics, and time and
// memory are bounded by their length.
package psbt

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/rawtx/internal/serial"
)

// A Packet is a partially signed transaction whose fields have passed Core's
// checks, of version 0 (BIP174) or 2 (BIP370). The maps of version 2 have beside
// the fields of version 0 those that are not in Tx: see [FallbackLockTime].
type Packet struct {
	Version uint32      // 0 or 2
	Tx      *wire.MsgTx // without signatures, with the lock time that its inputs require
	NoTx    bool        // no lock time does for all inputs: they cannot be in one transaction
	Global  Map
	Inputs  []Map // one for each input of Tx
	Outputs []Map // one for each output of Tx

	core32 bool // it is of a network where all roles are played as in Core 32
}

// A Map is one of the maps of a PSBT, in the order of its keys.
type Map []Entry //nolint:recvcheck // what changes it takes a pointer

// An Entry is a key of a map with its value.
type Entry struct {
	Key   []byte // as serialized, with the type
	Type  uint64
	Data  []byte // the key without its type
	Value []byte
}

// Of returns the entries of a type, in the order of their keys.
func (m Map) Of(kind uint64) []Entry {
	var entries []Entry
	for _, e := range m {
		if e.Type == kind {
			entries = append(entries, e)
		}
	}
	return entries
}

// One returns the value of a type that is there at most once.
func (m Map) One(kind uint64) ([]byte, bool) {
	if entries := m.Of(kind); len(entries) > 0 {
		return entries[0].Value, true
	}
	return nil, false
}

// inOrder sorts entries that come in the order of the data. If entries are the same after
// [Entry.forget], the first stays.
func (m Map) inOrder() Map {
	order := func(a, b Entry) int {
		if a.Type == P2MRLeaf && b.Type == P2MRLeaf {
			return cmp.Or(bytes.Compare(a.Key, b.Key), bytes.Compare(a.Value, b.Value))
		}
		return bytes.Compare(a.Key, b.Key)
	}
	slices.SortStableFunc(m, order)
	return slices.CompactFunc(m, func(a, b Entry) bool { return order(a, b) == 0 })
}

// An Error is why a text is no PSBT, in Core's words.
type Error string

// Error implements error.
func (e Error) Error() string { return string(e) }

// Core's streams fail with these words behind their own.
const streamSuffix = ": iostream error"

// errEndOfSpan is what Core 32 says where bytes are missing.
const errEndOfSpan = Error("SpanReader::read(): end of data" + streamSuffix)

// A format is which packets are read, and how those that are not are refused.
type format struct {
	v0, v2 mapRules // nothing in v2: there is no version 2
	core32 bool     // they are refused as by Core 32, not as by Core 30.2
}

// mapRules are what the maps of one version must have.
type mapRules struct{ global, input, output *ruleSet }

var (
	core30Format = format{
		v0: mapRules{globalRules.reads(0, 2), &inputRules, &outputRules},
		v2: mapRules{globalRules.with(v2Global, false).reads(0, 2), v2Rules.input, v2Rules.output},
	}
	core32Format = format{
		v0: mapRules{v2Rules.global, inputRules.with(v2Input, true), outputRules.with(v2Output, true)}, v2: v2Rules,
		core32: true,
	}
	p2mrFormat = format{v0: mapRules{&globalRules, &p2mrInputRules, &outputRules}}

	v2Rules = mapRules{
		globalRules.with(v2Global, false).reads(0, 1, 2),
		inputRules.with(v2Input, false), outputRules.with(v2Output, false),
	}
)

// Decode reads a PSBT in base64. A packet of version 0 is read as by Core 30.2, which knows no field of version 2.
// The error is an [Error].
func Decode(text string) (*Packet, error) { return core30Format.decode(text) }

// DecodeCore32 reads a PSBT as Core 32 does: it has other errors, and refuses fields of version 2 in version 0, and
// keys of MuSig2 that are none.
func DecodeCore32(text string) (*Packet, error) { return core32Format.decode(text) }

// DecodeP2MR is Decode on networks that pay to P2MR outputs, where fields of inputs have a meaning that
// are unknown elsewhere, and there is no version 2.
func DecodeP2MR(text string) (*Packet, error) { return p2mrFormat.decode(text) }

func (f *format) decode(text string) (*Packet, error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") { // which Go skips
		return nil, Error("invalid base64")
	}
	r := &serial.Reader{Rest: raw}
	p, err := f.readPSBT(r)
	switch {
	case f.core32 && errors.Is(err, serial.ErrEndOfData):
		return nil, errEndOfSpan
	case err != nil:
		return nil, Error(err.Error() + streamSuffix)
	case len(r.Rest) > 0:
		return nil, Error("extra data after PSBT")
	}
	return p, nil
}

var psbtMagic = []byte("psbt\xff")

// readPSBT reads all maps, in their order. Errors are those of Core's streams.
func (f *format) readPSBT(r *serial.Reader) (*Packet, error) {
	if magic := r.Bytes(uint64(len(psbtMagic))); r.Err != nil {
		return nil, r.Err
	} else if !bytes.Equal(magic, psbtMagic) {
		return nil, serial.Error("Invalid PSBT magic bytes")
	}
	p := &Packet{core32: f.core32}
	rules := &f.v0
	start := *r
	var err error
	if p.Global, err = f.readMap(r, rules.global); err != nil {
		return nil, err
	}
	if p.Version, _ = p.Global.Number(Version); p.Version == 2 && f.v2.global != f.v0.global {
		if p.Global.Has(UnsignedTx) {
			return nil, errVersion
		}
		*r = start // its fields were unknown
		if p.Global, err = f.readMap(r, f.v2.global); err != nil {
			return nil, err
		}
	}
	if p.Version == 2 {
		rules = &f.v2
	}
	inputs, outputs, err := p.begin()
	if err != nil {
		return nil, err
	}
	for uint64(len(p.Inputs)) < inputs && len(r.Rest) > 0 {
		if err := p.readInput(f.readMap(r, rules.input)); err != nil {
			return nil, err
		}
	}
	if uint64(len(p.Inputs)) != inputs {
		return nil, serial.Error("Inputs provided does not match the number of inputs in transaction.")
	}
	for uint64(len(p.Outputs)) < outputs && len(r.Rest) > 0 {
		if err := p.readOutput(f.readMap(r, rules.output)); err != nil {
			return nil, err
		}
	}
	if uint64(len(p.Outputs)) != outputs {
		return nil, serial.Error("Outputs provided does not match the number of outputs in transaction.")
	}
	if p.Version == 2 {
		p.settle()
	}
	return p, nil
}

// readInput adds an input that was read.
func (p *Packet) readInput(input Map, err error) error {
	if err == nil && p.Version == 2 {
		err = p.takeInput(&input)
	}
	if err != nil {
		return err
	}
	if err := checkPrevious(input, &p.Tx.TxIn[len(p.Inputs)].PreviousOutPoint); err != nil {
		return err
	}
	p.Inputs = append(p.Inputs, input.without(inputNulls))
	return nil
}

// readOutput adds an output that was read.
func (p *Packet) readOutput(output Map, err error) error {
	if err == nil && p.Version == 2 {
		err = p.takeOutput(&output)
	}
	if err != nil {
		return err
	}
	p.Outputs = append(p.Outputs, output.without(outputNulls))
	return nil
}

// checkPrevious checks an input's previous transaction: it must have the txid
// of the spent output, and that output.
func checkPrevious(input Map, at *wire.OutPoint) error {
	raw, ok := input.One(NonWitnessUTXO)
	if !ok {
		return nil
	}
	previous := NewValue(raw).Tx(true)
	if previous.TxHash() != at.Hash {
		return serial.Error("Non-witness UTXO does not match outpoint hash")
	}
	if uint64(at.Index) >= uint64(len(previous.TxOut)) {
		return serial.Error("Input specifies output index that does not exist")
	}
	return nil
}

// readMap reads a map up to its separator, and checks each entry as it comes.
func (f *format) readMap(r *serial.Reader, rules *ruleSet) (Map, error) {
	var m Map
	seen, signed := map[string]struct{}{}, map[string][]byte{}
	for len(r.Rest) > 0 {
		e := Entry{Key: r.VarBytes()}
		if r.Err != nil {
			return nil, r.Err
		}
		if len(e.Key) == 0 {
			return m.inOrder(), nil
		}
		key := &serial.Reader{Rest: e.Key, Part: true}
		e.Type, e.Data = key.CompactSize(), key.Rest
		if key.Err != nil {
			return nil, key.Err
		}
		rule := rules.of(&e)
		rule.core32 = f.core32
		identity := string(rule.identity(e.Key))
		if _, twice := seen[identity]; twice {
			return nil, rule.twice(rules, e.Key)
		}
		seen[identity] = struct{}{}
		if err := rule.checkKey(&e); err != nil {
			return nil, err
		}
		var err error
		if e.Value, err = rule.readValue(r); err != nil {
			return nil, err
		}
		if rule.loose > 0 {
			e.forget(rule.loose)
		}
		if rule.meaning != 0 {
			e = NewEntry(rule.meaning, e.Data[rule.head:], e.Value)
		}
		if e.Type == P2MRSig {
			if other, twice := signed[string(e.Key)]; twice && !bytes.Equal(other, e.Value) {
				return nil, serial.Error("Conflicting P2MR script signature for pubkey and leaf hash")
			}
			signed[string(e.Key)] = e.Value
		}
		m = append(m, e)
	}
	return nil, serial.Error("Separator is missing at the end of " + rules.name)
}

// Value reads fields out of the value of an [Entry], or the data of its key,
// whose contents have been checked.
type Value struct{ serial.Reader }

// NewValue reads a value, or the data of a key.
func NewValue(value []byte) *Value { return &Value{serial.Reader{Rest: value}} }
