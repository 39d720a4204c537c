package txpool

import (
	"maps"
	"math"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// A Pool holds transactions that are valid in the next block.
type Pool struct {
	checks
	entries

	deltas      map[chainhash.Hash]int64
	unbroadcast map[chainhash.Hash]struct{}
	relatives   relatives

	sequence      uint64
	updates       uint32 // see Updates
	rollingMinFee rollingMinFee
	raised        FeeRate // see Raised
	expired       int64   // when old ones were looked for
	changes       []Change
}

// New returns an empty pool.
func New(rules Rules, policy Policy) *Pool {
	p := &Pool{
		checks: checks{rules, policy},
		entries: entries{
			byID: make(map[chainhash.Hash]*Entry), byWID: make(map[chainhash.Hash]*Entry),
			spends: make(map[wire.OutPoint]*Entry),
		},
		deltas: make(map[chainhash.Hash]int64), unbroadcast: make(map[chainhash.Hash]struct{}), sequence: 1,
	}
	p.relatives = &ancestors{pool: p}
	if policy.Order == ByClusters {
		p.relatives = newClusters(p)
	}
	return p
}

// Policy returns the policy of the pool.
func (p *Pool) Policy() Policy { return p.policy }

// Idle reports whether no block can change the pool.
func (p *Pool) Idle() bool { return len(p.byID) == 0 && len(p.deltas) == 0 }

// Sequence returns a number that grows with every change.
func (p *Pool) Sequence() uint64 { return p.sequence }

// Updates returns a number that grows with every change of the pool, of what a
// transaction of it counts as paying, and of the tip (see [Pool.Moved]). It may
// begin anew at 0.
func (p *Pool) Updates() uint32 { return p.updates }

// Moved says that the tip has gone over so many blocks.
func (p *Pool) Moved(blocks int32) { p.updates += uint32(blocks) }

// TakeChanges returns what happened since it was called last.
func (p *Pool) TakeChanges() []Change {
	taken := p.changes
	p.changes = nil
	return taken
}

// Changes returns what happened since [Pool.TakeChanges] was called last.
func (p *Pool) Changes() []Change { return p.changes }

// insert adds an entry. Its parents are in the pool already; children may be.
func (p *Pool) insert(e *Entry) {
	p.link(e)
	p.updates++
	p.countIn(e)
	e.usage = usageOf(e, p.policy.Order)
	p.vsize, p.fees, p.usage = p.vsize+e.VSize, p.fees+e.Fee, p.usage+e.usage
	p.changes = append(p.changes, Change{
		Tx: e.Tx, ID: e.ID, WID: e.WID, Fee: e.Fee, VSize: e.VSize, Added: true, Sequence: e.Sequence,
		Number: p.sequence,
	})
	p.sequence++
	p.relatives.inserted(e)
}

// unsay takes back that an entry came, which has left again before anybody was notified. That it
// left is reported, as Core does.
func (p *Pool) unsay(e *Entry) {
	for at, c := range slices.Backward(p.changes) {
		if !c.Added || c.WID != e.WID {
			continue
		}
		p.changes = slices.Delete(p.changes, at, at+1)
		for i := at; i < len(p.changes); i++ {
			p.changes[i].Number--
			if later := &p.changes[i]; !later.Added {
				later.Sequence--
			}
		}
		break
	}
	p.sequence--
}

// countIn sums up what a new entry changes.
func (p *Pool) countIn(e *Entry) {
	above, below := e.ancestors(), e.descendants()
	e.Ancestors, e.Descendants = Total{}, Total{}
	e.Ancestors.add(e, 1)
	e.Descendants.add(e, 1)
	for a := range above {
		e.Ancestors.add(a, 1)
		a.Descendants.add(e, 1)
		p.relatives.changed(a) // after each change: a heap mends one at a time
	}
	for d := range below {
		e.Descendants.add(d, 1)
	}
	if len(below) > 0 { // an entry may join what was apart
		for d := range below {
			d.Ancestors = Total{}
			d.Ancestors.add(d, 1)
			for a := range d.ancestors() {
				d.Ancestors.add(a, 1)
			}
		}
		for a := range above {
			a.Descendants = Total{}
			a.Descendants.add(a, 1)
			for d := range a.descendants() {
				a.Descendants.add(d, 1)
			}
			p.relatives.changed(a)
		}
	}
}

// remove takes out one entry. Its descendants stay, as when it is in a block.
func (p *Pool) remove(e *Entry, reason messages.PoolReason) {
	p.updates++
	for a := range e.ancestors() {
		a.Descendants.add(e, -1)
		p.relatives.changed(a)
	}
	for d := range e.descendants() {
		d.Ancestors.add(e, -1)
	}
	for parent := range e.parents {
		delete(parent.children, e)
	}
	for child := range e.children {
		delete(child.parents, e)
	}
	for _, in := range e.Tx.TxIn {
		delete(p.spends, in.PreviousOutPoint)
	}
	delete(p.byID, e.ID)
	delete(p.byWID, e.WID)
	unbroadcast := p.Unbroadcast(&e.ID)
	delete(p.unbroadcast, e.ID)
	p.relatives.removed(e)
	p.vsize, p.fees, p.usage = p.vsize-e.VSize, p.fees-e.Fee, p.usage-e.usage
	p.changes = append(p.changes, Change{
		Tx: e.Tx, ID: e.ID, WID: e.WID, Fee: e.Fee, VSize: e.VSize, Reason: reason, Sequence: p.sequence,
		Number: p.sequence, Unbroadcast: unbroadcast,
	})
	p.sequence++
}

// removeAll takes out an entry with all that depends on it, those first.
func (p *Pool) removeAll(e *Entry, reason messages.PoolReason) {
	if p.byID[e.ID] != e {
		return
	}
	all := e.descendants()
	all[e] = struct{}{}
	p.removeSet(all, reason)
}

func (p *Pool) removeSet(set map[*Entry]struct{}, reason messages.PoolReason) {
	list := make([]*Entry, 0, len(set))
	for e := range set {
		list = append(list, e)
	}
	slices.SortFunc(list, byDepth)
	for _, e := range slices.Backward(list) {
		p.remove(e, reason)
	}
}

// MayPrioritise refuses transactions with dust, which must not pay.
//
// Errors: [messages.ErrTxDust].
func (p *Pool) MayPrioritise(id *chainhash.Hash) error {
	if e := p.byID[*id]; e != nil && p.policy.RequireStandard && len(p.dust(e.Tx)) > 0 {
		return messages.ErrTxDust
	}
	return nil
}

// Prioritise adds to what a transaction counts as paying, whether it is in the
// pool yet or not.
func (p *Pool) Prioritise(id *chainhash.Hash, delta int64) {
	sum := saturatingAdd(p.deltas[*id], delta)
	if e := p.byID[*id]; e != nil {
		p.updates++
		before := e.Modified
		e.Modified = saturatingAdd(e.Modified, delta)
		p.reprice(e, saturatingAdd(e.Modified, -before))
	}
	p.deltas[*id] = sum
	if sum == 0 {
		delete(p.deltas, *id)
	}
}

func (p *Pool) reprice(e *Entry, delta int64) {
	e.Ancestors.Fees += delta
	e.Descendants.Fees += delta
	p.relatives.changed(e)
	p.relatives.repriced(e)
	for a := range e.ancestors() {
		a.Descendants.Fees += delta
		p.relatives.changed(a)
	}
	for d := range e.descendants() {
		d.Ancestors.Fees += delta
	}
}

func saturatingAdd(a, b int64) int64 {
	switch sum := a + b; {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	default:
		return sum
	}
}

// Prioritised returns what the operator added to transactions.
func (p *Pool) Prioritised() map[chainhash.Hash]int64 { return maps.Clone(p.deltas) }

// SetUnbroadcast notes whether a transaction of our own is yet to be asked for
// by a peer.
func (p *Pool) SetUnbroadcast(id *chainhash.Hash, on bool) {
	switch {
	case !on:
		delete(p.unbroadcast, *id)
	case p.byID[*id] != nil:
		p.unbroadcast[*id] = struct{}{}
	}
}

// Unbroadcast reports whether no peer has asked for a transaction of our own.
func (p *Pool) Unbroadcast(id *chainhash.Hash) bool { _, is := p.unbroadcast[*id]; return is }

// AllUnbroadcast returns those that no peer has asked for, by id.
func (p *Pool) AllUnbroadcast() []chainhash.Hash {
	list := make([]chainhash.Hash, 0, len(p.unbroadcast))
	for id := range p.unbroadcast {
		list = append(list, id)
	}
	slices.SortFunc(list, func(a, b chainhash.Hash) int { return compareHashes(&a, &b) })
	return list
}
