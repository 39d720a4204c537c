// Package poolcopy is the pool of unconfirmed transactions of another node, as far as it
// was copied from there. It judges nothing: what the other node lists is in the pool.
//
// A look at the other pool begins with [Pool.Begin]. [Pool.Compare] compares its list
// with the copy; then [Pool.Remove] and [Pool.Add] make the copy equal. Transactions
// that were added after Begin are not taken for gone because that list, which is older,
// lacks them.
//
// A Pool is not safe for concurrent use, but a [Tx] that is in one never changes.
package poolcopy

import (
	"errors"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/messages"
)

// Limits bound the memory of a pool: that of its transactions as they are serialized,
// and their number. About 200 bytes more are needed for each.
type Limits struct {
	Bytes int64
	Txs   int
}

// Details is what the other node says of a transaction; zero where it was not asked.
type Details struct {
	Fee         int64 // in satoshi
	ModifiedFee int64
	VSize       int64 // in virtual bytes; 0: from the weight
	Time        int64 // when it came, in seconds since 1970
	Height      int32 // of the tip when it came
}

// A Tx is a transaction of a pool.
type Tx struct {
	Details

	ID, WID  chainhash.Hash
	Weight   int64
	Sequence uint64 // grows with each that was added
	raw      []byte
}

// errTx reports bytes that are not the transaction of an id.
var errTx = errors.New("it is not the transaction that was asked for")

// Parse reads a serialized transaction, which has to have an id. The Tx keeps raw.
func Parse(raw []byte, id *chainhash.Hash, of Details) (*Tx, *wire.MsgTx, error) {
	msg, size := consensus.ReadTx(raw, id)
	if msg == nil || size != len(raw) {
		return nil, nil, errTx
	}
	tx := &Tx{Details: of, ID: *id, WID: msg.WitnessHash(), raw: raw}
	tx.Weight = int64(3*msg.SerializeSizeStripped() + len(raw))
	if tx.VSize == 0 {
		tx.VSize = (tx.Weight + 3) / 4
	}
	return tx, msg, nil
}

// Msg returns the transaction. It is made anew at each call.
func (t *Tx) Msg() *wire.MsgTx {
	msg, _ := consensus.ReadTx(t.raw, &t.ID)
	return msg
}

// Bytes returns the serialized size of the transaction.
func (t *Tx) Bytes() int { return len(t.raw) }

// Change tells listeners that the transaction has come, or has left for a reason.
func (t *Tx) Change(msg *wire.MsgTx, left messages.PoolReason) messages.PoolChange {
	return messages.PoolChange{
		Tx: msg, ID: t.ID, WID: t.WID, Fee: t.Fee, VSize: t.VSize, Added: left == 0, Reason: left,
		Sequence: t.Sequence,
	}
}

// held is a transaction and the last look that found it in the other pool.
type held struct {
	*Tx

	look uint64
}

// A Pool is the copy. Make one with [New].
type Pool struct {
	limits Limits
	txs    map[chainhash.Hash]held
	bytes  int64
	vsize  int64
	fees   int64
	last   uint64 // Sequence
	look   uint64
	left   int // transactions that the limits kept out at the last look
}

// New returns an empty pool.
func New(limits Limits) *Pool { return &Pool{limits: limits, txs: make(map[chainhash.Hash]held)} }

// Begin says that the other pool is looked at. To be called before it is.
func (p *Pool) Begin() { p.look++ }

// Compare takes the list of the other pool. It returns the ids of those that are not
// here, in its order, and those that are here and not in the list any more.
func (p *Pool) Compare(ids []chainhash.Hash) (missing []chainhash.Hash, gone []*Tx) {
	p.left = 0
	known := 0
	for i := range ids {
		tx, ok := p.txs[ids[i]]
		if !ok {
			missing = append(missing, ids[i])
			continue
		}
		known++
		p.txs[ids[i]] = held{tx.Tx, p.look}
	}
	if known == len(p.txs) {
		return missing, nil
	}
	for _, tx := range p.txs {
		if tx.look != p.look {
			gone = append(gone, tx.Tx)
		}
	}
	slices.SortFunc(gone, later)
	return missing, gone
}

// later orders what depends on others before these.
func later(a, b *Tx) int {
	switch {
	case a.Sequence > b.Sequence:
		return -1
	case a.Sequence < b.Sequence:
		return 1
	}
	return 0
}

// Add adds a transaction. It reports false if the pool has the transaction already, or
// has no room within its limits.
func (p *Pool) Add(tx *Tx) bool {
	if old, ok := p.txs[tx.ID]; ok {
		p.txs[tx.ID] = held{old.Tx, p.look}
		return false
	}
	if len(p.txs) >= p.limits.Txs || p.bytes+int64(len(tx.raw)) > p.limits.Bytes {
		p.left++
		return false
	}
	p.last++
	tx.Sequence = p.last
	p.txs[tx.ID] = held{tx, p.look}
	p.count(tx, 1)
	return true
}

// Remove removes a transaction, and reports whether it was there.
func (p *Pool) Remove(id chainhash.Hash) bool {
	tx, ok := p.txs[id]
	if ok {
		delete(p.txs, id)
		p.count(tx.Tx, -1)
	}
	return ok
}

func (p *Pool) count(tx *Tx, sign int64) {
	p.bytes += sign * int64(len(tx.raw))
	p.vsize += sign * tx.VSize
	p.fees += sign * tx.Fee
}

// Room returns how many more transactions may be added, at most.
func (p *Pool) Room() int {
	if p.bytes >= p.limits.Bytes {
		return 0
	}
	return p.limits.Txs - len(p.txs)
}

// Lookup returns the transaction of an id, nil where there is none.
func (p *Pool) Lookup(id chainhash.Hash) *Tx { return p.txs[id].Tx }

// LookupWitness returns the transaction of a witness id, nil where there is none. It
// looks at all.
func (p *Pool) LookupWitness(wid chainhash.Hash) *Tx {
	for _, tx := range p.txs {
		if tx.WID == wid {
			return tx.Tx
		}
	}
	return nil
}

// Len returns how many transactions there are.
func (p *Pool) Len() int { return len(p.txs) }

// A Total is the sum of a pool's transactions.
type Total struct {
	Bytes, VSize int64 // serialized; virtual
	Fees         int64 // in satoshi
	Sequence     uint64
	Left         int // how many the limits keep out
}

// Total returns the sum of all transactions.
func (p *Pool) Total() Total {
	return Total{Bytes: p.bytes, VSize: p.vsize, Fees: p.fees, Sequence: p.last, Left: p.left}
}

// SetLeft says how many transactions were not asked for, because there is no room.
func (p *Pool) SetLeft(n int) { p.left = n }

// All returns all transactions, in no order.
func (p *Pool) All() []*Tx {
	list := make([]*Tx, 0, len(p.txs))
	for _, tx := range p.txs {
		list = append(list, tx.Tx)
	}
	return list
}

// Ancestors returns a transaction and all of the pool that it depends on.
func (p *Pool) Ancestors(tx *Tx) []*Tx {
	list := []*Tx{tx}
	seen := map[chainhash.Hash]bool{tx.ID: true}
	for i := 0; i < len(list); i++ {
		for _, in := range list[i].Msg().TxIn {
			id := in.PreviousOutPoint.Hash
			if parent := p.txs[id].Tx; parent != nil && !seen[id] {
				seen[id] = true
				list = append(list, parent)
			}
		}
	}
	return list
}
