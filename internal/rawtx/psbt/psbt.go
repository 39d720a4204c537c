// Package psbt reads partially signed transactions (BIP174) with the checks and
// errors of Bitcoin Core 30.2 (src/psbt.h).
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
	"slices"
	"strings"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/rawtx/internal/serial"
)

// A Packet is a partially signed transaction whose fields have passed Core's
// checks.
type Packet struct {
	Tx      *wire.MsgTx // without signatures
	Global  Map
	Inputs  []Map // one for each input of Tx
	Outputs []Map // one for each output of Tx
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

// Decode reads a PSBT in base64. The error is an [Error].
func Decode(text string) (*Packet, error) { return decode(text, &inputRules) }

// DecodeP2MR is Decode on networks that pay to P2MR outputs, where fields of inputs have a meaning that
// are unknown elsewhere.
func DecodeP2MR(text string) (*Packet, error) { return decode(text, &p2mrInputRules) }

func decode(text string, inputs *ruleSet) (*Packet, error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") { // which Go skips
		return nil, Error("invalid base64")
	}
	r := &serial.Reader{Rest: raw}
	p, err := readPSBT(r, inputs)
	switch {
	case err != nil:
		return nil, Error(err.Error() + streamSuffix)
	case len(r.Rest) > 0:
		return nil, Error("extra data after PSBT")
	}
	return p, nil
}

var psbtMagic = []byte("psbt\xff")

// readPSBT reads all maps, in their order. Errors are those of Core's streams.
func readPSBT(r *serial.Reader, inputs *ruleSet) (*Packet, error) {
	if magic := r.Bytes(uint64(len(psbtMagic))); r.Err != nil {
		return nil, r.Err
	} else if !bytes.Equal(magic, psbtMagic) {
		return nil, serial.Error("Invalid PSBT magic bytes")
	}
	p := new(Packet)
	var err error
	if p.Global, err = readMap(r, &globalRules); err != nil {
		return nil, err
	}
	unsigned, ok := p.Global.One(UnsignedTx)
	if !ok {
		return nil, serial.Error("No unsigned transaction was provided")
	}
	p.Tx = NewValue(unsigned).Tx(false) // which globalRules has read before
	p.Global = p.Global.without(globalNulls)
	for i := 0; i < len(p.Tx.TxIn) && len(r.Rest) > 0; i++ {
		input, err := readMap(r, inputs)
		if err != nil {
			return nil, err
		}
		if err := checkPrevious(input, &p.Tx.TxIn[i].PreviousOutPoint); err != nil {
			return nil, err
		}
		p.Inputs = append(p.Inputs, input.without(inputNulls))
	}
	if len(p.Inputs) != len(p.Tx.TxIn) {
		return nil, serial.Error("Inputs provided does not match the number of inputs in transaction.")
	}
	for i := 0; i < len(p.Tx.TxOut) && len(r.Rest) > 0; i++ {
		output, err := readMap(r, &outputRules)
		if err != nil {
			return nil, err
		}
		p.Outputs = append(p.Outputs, output.without(outputNulls))
	}
	if len(p.Outputs) != len(p.Tx.TxOut) {
		return nil, serial.Error("Outputs provided does not match the number of outputs in transaction.")
	}
	return p, nil
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
func readMap(r *serial.Reader, rules *ruleSet) (Map, error) {
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
		identity := string(rule.identity(e.Key))
		if _, twice := seen[identity]; twice {
			return nil, serial.Error(rule.duplicate)
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
