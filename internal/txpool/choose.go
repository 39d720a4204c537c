package txpool

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"

	"github.com/seed61375155/trawl/messages"
)

// Bounds of the search for transactions that fill a block up.
const (
	maxMisses  = 1000  // packages in a row that do not fit
	nearlyFull = 4_000 // weight; then the search ends after that many
	sigOpsKept = 400   // for the coinbase
)

// choose takes those first that pay most together with their ancestors.
//
// Which transactions are tried again after others were taken, and with what totals,
// is Core's choice, so that both nodes make the same block.
func (r *ancestors) choose(maxWeight, reserved int64, minRate FeeRate) []*Entry {
	p := r.pool
	c := chooser{
		pool: p, weight: reserved, maxWeight: maxWeight, sigOps: sigOpsKept,
		modified: make(map[*Entry]*choice), failed: make(map[*Entry]struct{}), taken: make(map[*Entry]struct{}),
	}
	for _, e := range p.byID {
		c.fresh = append(c.fresh, &choice{entry: e, total: e.Ancestors, place: len(c.fresh)})
	}
	heap.Init(&c.fresh)
	c.run(minRate)
	return c.chosen
}

// choice is a transaction with what of its ancestors is not in the block yet.
type choice struct {
	entry *Entry
	total Total
	place int
}

// rate is the lower one of the rate of an entry and that with its ancestors.
func (c *choice) rate() FeeRate {
	own, all := c.entry.rate(), RateOf(c.total.Fees, c.total.VSize)
	if own.Compare(all) < 0 {
		return own
	}
	return all
}

// before reports whether a choice is tried before another.
func (c *choice) before(other *choice) bool {
	if order := c.rate().Compare(other.rate()); order != 0 {
		return order > 0
	}
	return byID(c.entry, other.entry) < 0
}

type chooser struct {
	pool     *Pool
	fresh    choices             // of whose ancestors none is in the block
	changed  choices             // of whose ancestors some are
	modified map[*Entry]*choice  // those of changed
	failed   map[*Entry]struct{} // were among the changed and did not fit
	taken    map[*Entry]struct{}

	chosen            []*Entry
	weight, maxWeight int64
	sigOps            int64
	misses            int
}

func (c *chooser) run(minRate FeeRate) {
	for best := c.next(); best != nil; best = c.next() {
		if best.total.Fees < minRate.Fee(best.total.VSize) {
			return // nothing that follows pays more
		}
		if c.fits(&best.total) {
			c.misses = 0
			c.take(best)
			continue
		}
		if c.modified[best.entry] == best {
			c.drop(best)
			c.failed[best.entry] = struct{}{}
		}
		c.misses++
		if c.misses > maxMisses && c.weight > c.maxWeight-nearlyFull {
			return
		}
	}
}

// next returns the best choice, nil when there is none left. A fresh one is then
// forgotten.
func (c *chooser) next() *choice {
	for len(c.fresh) > 0 && c.stale(c.fresh[0].entry) {
		heap.Pop(&c.fresh)
	}
	switch {
	case len(c.fresh) == 0 && len(c.changed) == 0:
		return nil
	case len(c.fresh) == 0, len(c.changed) > 0 && c.changed[0].before(c.fresh[0]):
		return c.changed[0]
	}
	return heap.Pop(&c.fresh).(*choice)
}

// stale reports whether a transaction is no fresh one any more.
func (c *chooser) stale(e *Entry) bool {
	_, taken := c.taken[e]
	_, failed := c.failed[e]
	return taken || failed || c.modified[e] != nil
}

func (c *chooser) fits(t *Total) bool {
	return c.weight+t.VSize*c.pool.rules.WitnessScale < c.maxWeight && c.sigOps+t.sigs < c.pool.rules.MaxSigOps
}

// take puts a transaction with its ancestors into the block.
func (c *chooser) take(best *choice) {
	set := map[*Entry]struct{}{best.entry: {}}
	for a := range best.entry.ancestors() {
		if _, in := c.taken[a]; !in {
			set[a] = struct{}{}
		}
	}
	for _, e := range slices.SortedFunc(maps.Keys(set), byAncestors) {
		c.taken[e] = struct{}{}
		c.chosen = append(c.chosen, e)
		c.weight += e.Weight
		c.sigOps += e.SigOps
		if one := c.modified[e]; one != nil {
			c.drop(one)
		}
	}
	for e := range set {
		for d := range e.descendants() {
			if _, in := set[d]; !in {
				c.lessen(d, e)
			}
		}
	}
}

// lessen takes an ancestor that is in the block out of the totals of a transaction.
func (c *chooser) lessen(e, ancestor *Entry) {
	one := c.modified[e]
	if one == nil {
		one = &choice{entry: e, total: e.Ancestors}
		c.modified[e] = one
		heap.Push(&c.changed, one)
	}
	one.total.add(ancestor, -1)
	heap.Fix(&c.changed, one.place)
}

// drop forgets what was said of a changed choice.
func (c *chooser) drop(one *choice) {
	heap.Remove(&c.changed, one.place)
	delete(c.modified, one.entry)
}

// byAncestors orders entries so that each comes after all that it depends on.
func byAncestors(a, b *Entry) int {
	return cmp.Or(cmp.Compare(a.Ancestors.Count, b.Ancestors.Count), byID(a, b))
}

// choices is a heap of the choices, the best paying first.
type choices []*choice //nolint:recvcheck // heap.Interface wants both

func (q choices) Len() int { return len(q) }

func (q choices) Less(i, j int) bool { return q[i].before(q[j]) }

func (q choices) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

func (q *choices) Push(x any) {
	c := x.(*choice)
	c.place = len(*q)
	*q = append(*q, c)
}

func (q *choices) Pop() any {
	last := len(*q) - 1
	c := (*q)[last]
	*q = (*q)[:last]
	return c
}

// BlockTx describes an entry that was chosen.
func (e *Entry) BlockTx() messages.BlockTx {
	return messages.BlockTx{Tx: e.Tx, Fee: e.Fee, SigOps: e.SigOps, Weight: e.Weight}
}
