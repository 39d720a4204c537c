package walletfile

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// NoOrderPos is the OrderPos of a transaction that has no place yet.
const NoOrderPos int64 = -1

// Tx is the record of a transaction of the wallet.
type Tx struct {
	ID    chainhash.Hash // as in the key; it may differ from that of Tx in damaged files
	Tx    *wire.MsgTx
	State TxState

	OrderPos     int64  // place in the order of transactions, or NoOrderPos
	TimeSmart    uint32 // Unix time in seconds that orders transactions as they came, or 0
	TimeReceived uint32 // Unix time in seconds

	// Values holds what users and features attach: comment, to, message,
	// replaces_txid, replaced_by_txid.
	Values    map[string]string
	OrderForm []Pair

	notesInside bool
}

// Pair is a name and its text.
type Pair struct{ Name, Text string }

// The names among the values that are fields of [Tx] instead.
const (
	fromAccountName = "fromaccount"
	orderPosName    = "n"
	timeSmartName   = "timesmart"
	spentName       = "spent"
)

// Key returns the key of the record.
func (t *Tx) Key() []byte { return append(KeyPrefix("tx"), t.ID[:]...) }

// Value returns the value of the record.
func (t *Tx) Value() []byte {
	value := appendTx(nil, t.Tx)
	value = append(value, t.State.Block[:]...)
	value = appendCompact(value, 0) // was the merkle branch
	value = appendUint32(value, uint32(t.State.Index))
	value = appendCompact(value, 0) // was the transactions before
	value = appendPairs(value, t.storedValues())
	value = appendPairs(value, t.OrderForm)
	value = appendUint32(value, 0) // was a mark of the time's meaning
	value = appendUint32(value, t.TimeReceived)
	return append(value, 0, 0) // were marks of origin and spending
}

// storedValues returns the values with the fields that are stored among them,
// in the order of their names.
func (t *Tx) storedValues() []Pair {
	values := maps.Clone(t.Values)
	if values == nil {
		values = make(map[string]string, 3)
	}
	maps.DeleteFunc(values, func(name, _ string) bool { return strings.HasPrefix(name, ownPrefix) })
	values[fromAccountName] = ""
	if t.OrderPos != NoOrderPos {
		values[orderPosName] = strconv.FormatInt(t.OrderPos, 10)
	}
	if t.TimeSmart != 0 {
		values[timeSmartName] = strconv.FormatUint(uint64(t.TimeSmart), 10)
	}
	pairs := make([]Pair, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		pairs = append(pairs, Pair{Name: name, Text: values[name]})
	}
	return pairs
}

func parseTx(key, value *cursor) Entry {
	t := &Tx{ID: key.hash(), Tx: value.tx()}
	t.State.Block = value.hash()
	value.take(value.compact() * chainhash.HashSize) // merkle branch of old files
	t.State.Index = value.int32()
	for range value.compact() { // transactions before, of old files
		value.skipMerkleTx()
		if value.err != nil {
			break
		}
	}
	values := value.pairs()
	t.OrderForm = value.pairs()
	value.uint32()
	t.TimeReceived = value.uint32()
	value.take(2)
	t.setValues(values)
	return t
}

// setValues takes the fields out of the stored values. The first of two values
// of one name counts.
func (t *Tx) setValues(stored []Pair) {
	values := make(map[string]string, len(stored))
	for _, pair := range stored {
		if _, duplicate := values[pair.Name]; !duplicate {
			values[pair.Name] = pair.Text
		}
	}
	t.OrderPos = NoOrderPos
	if text, ok := values[orderPosName]; ok {
		t.OrderPos = leadingInt(text)
	}
	t.TimeSmart = uint32(leadingInt(values[timeSmartName]))
	for _, name := range []string{fromAccountName, orderPosName, timeSmartName, spentName} {
		delete(values, name)
	}
	t.Values = values
	_, t.notesInside = t.Notes()
}

// leadingInt reads a number as C's atoll: white space and a sign may come before
// it, anything after it. A number out of range becomes the nearest number in
// range.
func leadingInt(text string) int64 {
	text = strings.TrimLeft(text, " \f\n\r\t\v")
	if unsigned, plus := strings.CutPrefix(text, "+"); plus && !strings.HasPrefix(unsigned, "-") {
		text = unsigned
	}
	length := 0
	for length < len(text) && (isDigit(text[length]) || length == 0 && text[0] == '-') {
		length++
	}
	n, err := strconv.ParseInt(text[:length], 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0
	}
	return n
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// pairs reads a list of names and texts.
func (c *cursor) pairs() []Pair {
	var pairs []Pair
	for range c.compact() {
		pair := Pair{Name: c.text(), Text: c.text()}
		if c.err != nil {
			return nil
		}
		pairs = append(pairs, pair)
	}
	return pairs
}

func appendPairs(dst []byte, pairs []Pair) []byte {
	dst = appendCompact(dst, len(pairs))
	for _, pair := range pairs {
		dst = appendBytes(appendBytes(dst, pair.Name), pair.Text)
	}
	return dst
}
