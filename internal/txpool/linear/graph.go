package linear

// A Graph has up to [MaxTxs] transactions with what each depends on, and what depends on it. They
// are numbered from 0.
type Graph struct{ txs []node }

type node struct {
	FeeSize

	above, below Set // all ancestors and descendants, itself included
}

// Len returns the number of transactions.
func (g *Graph) Len() int { return len(g.txs) }

// All returns the set of all transactions.
func (g *Graph) All() Set { return upTo(len(g.txs)) }

// Add adds a transaction that depends on nothing, and returns its index. The graph must have less
// than [MaxTxs], and the size must be above 0.
func (g *Graph) Add(f FeeSize) int {
	i := len(g.txs)
	g.txs = append(g.txs, node{FeeSize: f.limited(), above: Of(i), below: Of(i)})
	return i
}

// Depend has a child depend on parents. Parents that depend on the child are passed over, so that
// there is no circle.
func (g *Graph) Depend(parents Set, child int) {
	c := &g.txs[child]
	var above Set
	for p := range (parents &^ c.above &^ c.below).All() {
		above |= g.txs[p].above
	}
	above &^= c.above
	for a := range above.All() {
		g.txs[a].below |= c.below
	}
	if above != 0 {
		for d := range c.below.All() {
			g.txs[d].above |= above
		}
	}
}

// FeeSize returns the fee and the size of a transaction.
func (g *Graph) FeeSize(i int) FeeSize { return g.txs[i].FeeSize }

// SetFee changes the fee of a transaction.
func (g *Graph) SetFee(i int, fee int64) {
	g.txs[i].FeeSize = FeeSize{fee, g.txs[i].Size}.limited()
}

// Ancestors returns what a transaction depends on, with itself.
func (g *Graph) Ancestors(i int) Set { return g.txs[i].above }

// Descendants returns what depends on a transaction, with itself.
func (g *Graph) Descendants(i int) Set { return g.txs[i].below }

// Parents returns the fewest transactions that have all other ancestors of a transaction as theirs.
func (g *Graph) Parents(i int) Set {
	all := g.txs[i].above &^ Of(i)
	parents := all
	for p := range all.All() {
		if parents.Has(p) {
			parents &^= g.txs[p].above &^ Of(p)
		}
	}
	return parents
}

// Sum sums up a set.
func (g *Graph) Sum(s Set) (sum FeeSize) {
	for i := range s.All() {
		sum = sum.Plus(g.txs[i].FeeSize)
	}
	return sum
}

// component returns what of a set is connected with a transaction of the set. Where one depends on
// another over a third the two are connected, even if the third is not in the set.
func (g *Graph) component(of Set, i int) Set {
	found, fresh := Set(0), Of(i)
	for fresh != 0 {
		before := found | fresh
		found = before
		for j := range fresh.All() {
			found |= (g.txs[j].above | g.txs[j].below) & of
		}
		fresh = found &^ before
	}
	return found
}

// reordered returns a graph of the transactions of a list, in its order. Descendants over
// transactions that are not in the list stay descendants.
func (g *Graph) reordered(list []int) *Graph {
	var at [MaxTxs]int
	var all Set
	for to, from := range list {
		at[from] = to
		all |= Of(from)
	}
	moved := func(s Set) (to Set) {
		for i := range (s & all).All() {
			to |= Of(at[i])
		}
		return to
	}
	part := &Graph{txs: make([]node, len(list))}
	for to, from := range list {
		n := g.txs[from]
		part.txs[to] = node{n.FeeSize, moved(n.above), moved(n.below)}
	}
	return part
}

// append adds the transactions of another graph, and returns the index of its first.
func (g *Graph) append(other *Graph) int {
	by := len(g.txs)
	for _, n := range other.txs {
		g.txs = append(g.txs, node{n.FeeSize, n.above << by, n.below << by})
	}
	return by
}

// topological reports whether a list has each transaction once, after what it depends on.
func (g *Graph) topological(list []int) bool {
	var done Set
	for _, i := range list {
		if done.Has(i) || g.txs[i].above&^Of(i)&^done != 0 {
			return false
		}
		done |= Of(i)
	}
	return done == g.All()
}
