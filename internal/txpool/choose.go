package txpool

import (
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

// Choose returns the transactions of the best block: those first that pay most
// together with what they depend on. Each comes after those that it depends on.
func (p *Pool) Choose(maxWeight, reserved int64, minRate FeeRate) []*Entry {
	c := chooser{
		pool: p, weight: reserved, maxWeight: maxWeight, sigOps: sigOpsKept,
		totals: make(map[*Entry]*choice, len(p.byID)), taken: make(map[*Entry]struct{}),
	}
	for _, e := range p.byID {
		one := &choice{entry: e, total: e.Ancestors}
		c.totals[e] = one
		c.queue = append(c.queue, one)
		one.place = len(c.queue) - 1
	}
	heap.Init(&c.queue)
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

type chooser struct {
	pool              *Pool
	queue             choices
	totals            map[*Entry]*choice
	taken             map[*Entry]struct{}
	chosen            []*Entry
	weight, maxWeight int64
	sigOps            int64
	misses            int
}

func (c *chooser) run(minRate FeeRate) {
	for len(c.queue) > 0 {
		best := heap.Pop(&c.queue).(*choice)
		if best.total.Fees < minRate.Fee(best.total.VSize) {
			return // nothing that follows pays more
		}
		if !c.fits(&best.total) {
			c.misses++
			if c.misses > maxMisses && c.weight > c.maxWeight-nearlyFull {
				return
			}
			continue
		}
		c.misses = 0
		c.take(best)
	}
}

func (c *chooser) fits(t *Total) bool {
	return c.weight+t.VSize*c.pool.rules.WitnessScale < c.maxWeight && c.sigOps+t.sigs < c.pool.rules.MaxSigOps
}

// take puts a transaction with its ancestors into the block.
func (c *chooser) take(best *choice) {
	set := make(map[*Entry]struct{})
	for a := range best.entry.ancestors() {
		if _, in := c.taken[a]; !in {
			set[a] = struct{}{}
		}
	}
	set[best.entry] = struct{}{}
	for _, e := range slices.SortedFunc(maps.Keys(set), byDepth) {
		c.taken[e] = struct{}{}
		c.chosen = append(c.chosen, e)
		c.weight += e.Weight
		c.sigOps += e.SigOps
		if one := c.totals[e]; one.place >= 0 {
			heap.Remove(&c.queue, one.place)
		}
		for d := range e.descendants() {
			if one := c.totals[d]; one.place >= 0 {
				one.total.add(e, -1)
				heap.Fix(&c.queue, one.place)
			}
		}
	}
}

// choices is a heap of the choices, the best paying first.
type choices []*choice //nolint:recvcheck // heap.Interface wants both

func (q choices) Len() int { return len(q) }

func (q choices) Less(i, j int) bool {
	if order := q[i].rate().Compare(q[j].rate()); order != 0 {
		return order > 0
	}
	return byID(q[i].entry, q[j].entry) < 0
}

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
	c.place = -1
	return c
}

// BlockTx describes an entry that was chosen.
func (e *Entry) BlockTx() messages.BlockTx {
	return messages.BlockTx{Tx: e.Tx, Fee: e.Fee, SigOps: e.SigOps, Weight: e.Weight}
}
