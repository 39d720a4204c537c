package linear

import "slices"

// A Search says how a linearization is looked for.
type Search struct {
	Old    []int              // a linearization to improve on; nil: none is known
	Order  func(a, b int) int // of transactions between which nothing else decides; it must be strict
	Budget int                // work, in units of some nanoseconds, after which what was found is taken
	Seed   uint64             // decides which of equal ways is tried first
}

// Linearize returns a linearization that is not worse than the old one, if that is topological, and
// reports whether it is the best one. That one depends on neither the old one nor the seed. In each
// case its chunks are connected.
func (g *Graph) Linearize(s Search) (list []int, optimal bool, cost int) {
	f := newForest(g, s.Seed)
	if g.topological(s.Old) {
		f.load(s.Old)
	} else {
		f.settle()
	}
	optimal = f.optimize(s.Budget) && f.minimize(s.Budget)
	return g.tidy(f.list(g, s.Order)), optimal, f.cost
}

// tidy improves a linearization by two passes, first from its end, and has its chunks connected.
// Where each transaction has at most one child, or each at most one parent, it is the best then.
func (g *Graph) tidy(list []int) []int {
	slices.Reverse(list)
	list = g.pass(list, true)
	slices.Reverse(list)
	return g.pass(list, false)
}

// run is a part of a list that stays together.
type run struct {
	part

	needs Set // all that they depend on; from the end: that depends on them
	first int
	last  int
}

// pass moves transactions that pay more to the front, together with their ancestors. From the end,
// it moves transactions that pay less there, together with their descendants.
func (g *Graph) pass(list []int, fromEnd bool) []int {
	var next [MaxTxs]int // of the same group
	groups := make([]run, 0, len(list))
	for _, i := range list {
		one := run{part{Of(i), g.txs[i].FeeSize}, g.txs[i].above, i, i}
		if fromEnd {
			one.needs, one.fees.Fee = g.txs[i].below, -one.fees.Fee
		}
		groups = append(groups, one)
		at := len(groups) - 1
		for ; at > 0 && groups[at].fees.CompareRate(groups[at-1].fees) > 0; at-- {
			before, c := &groups[at-1], &groups[at]
			if c.needs&before.txs == 0 {
				*before, *c = *c, *before
				continue
			}
			next[before.last] = c.first
			before.add(c.part)
			before.needs, before.last = before.needs|c.needs, c.last
			groups = slices.Delete(groups, at, at+1)
		}
	}
	list = list[:0]
	for _, c := range groups {
		for i := c.first; ; i = next[i] {
			list = append(list, i)
			if i == c.last {
				break
			}
		}
	}
	return list
}
