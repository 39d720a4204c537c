package consensus

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// FindTx returns a transaction of those that stand in raw from at on, after their
// count, and its place among them. The place guess is looked at first, where it is not
// below 0, without hashing what comes before. It returns nil when no transaction has
// that id; bytes that are no transactions, as far as they were read, are
// [ErrMalformed]. Nothing of raw is kept.
func FindTx(raw []byte, at int, id *chainhash.Hash, guess int) (tx *wire.MsgTx, place int, err error) {
	if tx = txAt(raw, at, id, guess); tx != nil {
		return tx, guess, nil
	}
	r := readerAt(raw, at)
	var base []byte
	for place = range r.size() {
		s := r.span()
		if r.failed {
			break
		}
		if base = s.appendBase(base[:0], raw); doubleHash(base) == *id {
			return s.read(raw), place, nil
		}
	}
	if r.failed {
		return nil, 0, ErrMalformed
	}
	return nil, 0, nil
}

// ReadTx returns the transaction that raw begins with, if it has an id (nil: any), and its
// size in bytes; else nil. Nothing of raw is kept.
func ReadTx(raw []byte, id *chainhash.Hash) (tx *wire.MsgTx, size int) {
	r := readerAt(raw, 0)
	s := r.span()
	if r.failed || id != nil && doubleHash(s.appendBase(nil, raw)) != *id {
		return nil, 0
	}
	return s.read(raw), s.end
}

// ListTxs returns the ids of the transactions that stand in raw from at on, after their
// count, and where they begin in raw; one offset more is where the last one ends. The
// error is [ErrMalformed] where raw cannot be read.
func ListTxs(raw []byte, at int) (ids []chainhash.Hash, offsets []int, err error) {
	r := readerAt(raw, at)
	n := r.size()
	if r.failed || n > (len(raw)-r.at)/minTxSize {
		return nil, nil, ErrMalformed
	}
	ids, offsets = make([]chainhash.Hash, n), make([]int, n+1)
	var base []byte
	for i := range n {
		s := r.span()
		if r.failed {
			return nil, nil, ErrMalformed
		}
		ids[i], offsets[i], offsets[i+1] = s.id(raw, &base), s.start, s.end
	}
	return ids, offsets, nil
}

// Outline returns the ids of the transactions that stand in raw from at on, after their
// count. It also returns how many bytes the count and the transactions take without
// witnesses (base), and where the last transaction ends. The error is [ErrMalformed]
// where raw cannot be read.
func Outline(raw []byte, at int) (ids []chainhash.Hash, base, end int, err error) {
	r := readerAt(raw, at)
	n := r.size()
	if r.failed || n > (len(raw)-r.at)/minTxSize {
		return nil, 0, 0, ErrMalformed
	}
	ids, base = make([]chainhash.Hash, n), r.at-at
	var hashed []byte
	for i := range n {
		s := r.span()
		if r.failed {
			return nil, 0, 0, ErrMalformed
		}
		ids[i] = s.id(raw, &hashed)
		base += 8 + s.tail - s.body // version and lock time
	}
	return ids, base, r.at, nil
}

// ListInputs returns the ids of the transactions that stand in raw from at on, after their
// count, how many inputs each has, and where the last one ends. The error is
// [ErrMalformed] where raw cannot be read.
func ListInputs(raw []byte, at int) (ids []chainhash.Hash, inputs []int32, end int, err error) {
	r := readerAt(raw, at)
	n := r.size()
	if r.failed || n > (len(raw)-r.at)/minTxSize {
		return nil, nil, 0, ErrMalformed
	}
	ids, inputs = make([]chainhash.Hash, n), make([]int32, n)
	var base []byte
	for i := range n {
		s := r.span()
		if r.failed {
			return nil, nil, 0, ErrMalformed
		}
		ids[i], inputs[i] = s.id(raw, &base), int32(s.inputs)
	}
	return ids, inputs, r.at, nil
}

// A Spending is what a transaction among serialized ones spends, and where it stands.
type Spending struct {
	Start, End int // in the bytes that it was read from
	Outs       []wire.OutPoint
}

// ListSpendings returns what the transactions spend that stand in raw from at on, after
// their count. The error is [ErrMalformed] where raw cannot be read.
func ListSpendings(raw []byte, at int) ([]Spending, error) {
	r := readerAt(raw, at)
	n := r.size()
	if r.failed || n > (len(raw)-r.at)/minTxSize {
		return nil, ErrMalformed
	}
	list := make([]Spending, n)
	for i := range list {
		s := r.span()
		if r.failed {
			return nil, ErrMalformed
		}
		list[i] = Spending{s.start, s.end, s.outs(raw)}
	}
	return list, nil
}

// txAt returns the transaction at a place, if it has an id.
func txAt(raw []byte, at int, id *chainhash.Hash, place int) *wire.MsgTx {
	r := readerAt(raw, at)
	if n := r.size(); place < 0 || place >= n {
		return nil
	}
	for n := 0; n < place && !r.failed; n++ {
		r.span()
	}
	s := r.span()
	if r.failed || doubleHash(s.appendBase(nil, raw)) != *id {
		return nil
	}
	return s.read(raw)
}

// readerAt reads from at on, which need not lie within raw.
func readerAt(raw []byte, at int) reader {
	return reader{raw: raw, at: max(at, 0), failed: at < 0 || at > len(raw)}
}

// A span is where a transaction stands: where it starts and ends, and the inputs and
// outputs between; and how many inputs it has.
type span struct{ start, body, tail, end, inputs int }

// span reads past a transaction.
func (r *reader) span() (s span) {
	s.start = r.at
	r.take(4)
	s.body = r.at
	inputs := r.size()
	witness := false
	if inputs == 0 {
		flag := r.take(1)
		if r.failed || flag[0] > 1 {
			r.failed = true
			return s
		}
		if witness = flag[0] == 1; witness {
			s.body = r.at
			inputs = r.size()
		}
	}
	if inputs > 0 || witness {
		r.passBody(inputs)
	}
	s.tail = r.at
	for n := 0; witness && n < inputs && !r.failed; n++ {
		for items := r.size(); items > 0 && !r.failed; items-- {
			r.take(r.size())
		}
	}
	r.take(4)
	s.end, s.inputs = r.at, inputs
	return s
}

// passBody reads past inputs and outputs.
func (r *reader) passBody(inputs int) {
	for ; inputs > 0 && !r.failed; inputs-- {
		r.take(chainhash.HashSize + 4)
		r.take(r.size())
		r.take(4)
	}
	for outputs := r.size(); outputs > 0 && !r.failed; outputs-- {
		r.take(8)
		r.take(r.size())
	}
}

// id returns the id of the transaction. base is memory in which a transaction with
// witnesses is put together for hashing.
func (s span) id(raw []byte, base *[]byte) chainhash.Hash {
	if s.body == s.start+4 && s.tail == s.end-4 { // no witness: it stands there in one piece
		return doubleHash(raw[s.start:s.end])
	}
	*base = s.appendBase((*base)[:0], raw)
	return doubleHash(*base)
}

// appendBase appends the transaction without its witnesses.
func (s span) appendBase(dst, raw []byte) []byte {
	dst = append(dst, raw[s.start:s.start+4]...)
	dst = append(dst, raw[s.body:s.tail]...)
	return append(dst, raw[s.end-4:s.end]...)
}

// outs returns what the transaction spends.
func (s span) outs(raw []byte) []wire.OutPoint {
	r := readerAt(raw, s.body)
	r.size() // their number
	outs := make([]wire.OutPoint, s.inputs)
	for i := range outs {
		outs[i] = wire.OutPoint{Hash: chainhash.Hash(r.take(chainhash.HashSize)), Index: r.uint32()}
		r.take(r.size())
		r.take(4)
	}
	return outs
}

// read returns the transaction, nil if it is none.
func (s span) read(raw []byte) *wire.MsgTx {
	one := append(make([]byte, 0, 1+s.end-s.start), 1)
	txs, _, err := ReadTxs(append(one, raw[s.start:s.end]...), 0)
	if err != nil {
		return nil
	}
	return txs.List[0]
}
