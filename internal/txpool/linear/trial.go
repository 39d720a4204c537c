package linear

import "slices"

// A Trial is a change of clusters that is made at once or not at all. Until then they must not
// change otherwise.
type Trial struct {
	c       *Clusters
	added   []*Tx
	deps    []Dep
	removed []*Tx

	old     []*cluster // that the change concerns; nil: not known yet
	groups  []*pieceGroup
	fresh   []*cluster // what is in their place; nil: not made yet
	planned bool
}

// A Dep says that a transaction spends from another.
type Dep struct{ Parent, Child *Tx }

// pieceGroup is what a cluster is made of.
type pieceGroup struct {
	pieces []*cluster
	deps   []Dep
	count  int
	size   int64
}

// Try begins a change.
func (c *Clusters) Try() *Trial {
	c.settle()
	return &Trial{c: c}
}

// Add adds a transaction that spends from others, which are there or have been added before.
func (t *Trial) Add(tx *Tx, parents ...*Tx) {
	t.added = append(t.added, tx)
	for _, parent := range parents {
		t.deps = append(t.deps, Dep{parent, tx})
	}
	t.planned = false
}

// Remove removes a transaction.
func (t *Trial) Remove(tx *Tx) {
	t.removed = append(t.removed, tx)
	t.planned = false
}

// plan finds which clusters there will be.
func (t *Trial) plan() {
	if t.planned {
		return
	}
	t.planned, t.old, t.fresh = true, nil, nil
	cuts := make(map[*cluster]Set)
	concern := func(tx *Tx, cut Set) {
		if k := tx.in; k != nil {
			if _, known := cuts[k]; !known {
				t.old = append(t.old, k)
			}
			cuts[k] |= cut
		}
	}
	for _, d := range t.deps {
		concern(d.Parent, 0)
		concern(d.Child, 0)
	}
	for _, tx := range t.removed {
		concern(tx, Of(tx.at))
	}
	var pieces []*cluster
	for _, k := range t.old {
		if cuts[k] == 0 {
			pieces = append(pieces, k)
		} else {
			pieces = append(pieces, k.pieces(cuts[k])...)
		}
	}
	for _, tx := range t.added {
		one := &cluster{graph: new(Graph), txs: []*Tx{tx}}
		one.graph.Add(tx.fees)
		pieces = append(pieces, one)
	}
	t.groups = groupUp(pieces, t.deps)
}

// groupUp puts the pieces together that dependencies connect, in their order.
func groupUp(pieces []*cluster, deps []Dep) (groups []*pieceGroup) {
	at := make(map[*Tx]int, len(pieces))
	root := make([]int, len(pieces))
	for i, p := range pieces {
		root[i] = i
		for _, tx := range p.txs {
			at[tx] = i
		}
	}
	find := func(i int) int {
		for root[i] != i {
			root[i] = root[root[i]]
			i = root[i]
		}
		return i
	}
	known := make([]Dep, 0, len(deps))
	for _, d := range deps {
		parent, hasParent := at[d.Parent]
		child, hasChild := at[d.Child]
		if hasParent && hasChild {
			known = append(known, d)
			a, b := find(parent), find(child)
			root[max(a, b)] = min(a, b)
		}
	}
	of := make([]*pieceGroup, len(pieces))
	for i, p := range pieces {
		r := find(i)
		if of[r] == nil {
			of[r] = &pieceGroup{}
			groups = append(groups, of[r])
		}
		g := of[r]
		g.pieces = append(g.pieces, p)
		g.count += len(p.txs)
		g.size += p.graph.Sum(p.graph.All()).Size
	}
	for _, d := range known {
		g := of[find(at[d.Child])]
		g.deps = append(g.deps, d)
	}
	return groups
}

// whole makes a cluster of a group. Only clusters that were there before are linearized.
func (g *pieceGroup) whole() *cluster {
	if len(g.pieces) == 1 && len(g.deps) == 0 {
		return g.pieces[0]
	}
	k := &cluster{graph: new(Graph), txs: make([]*Tx, 0, g.count)}
	at := make(map[*Tx]int, g.count)
	for _, p := range g.pieces {
		by := k.graph.append(p.graph)
		for i, tx := range p.txs {
			at[tx] = by + i
		}
		k.txs = append(k.txs, p.txs...)
	}
	for _, d := range g.deps {
		k.graph.Depend(Of(at[d.Parent]), at[d.Child])
	}
	return k
}

func (g *pieceGroup) over(limits Limits) bool { return g.count > limits.Count || g.size > limits.Size }

// Oversized reports whether a cluster would be beyond the limits.
func (t *Trial) Oversized() bool {
	t.plan()
	return slices.ContainsFunc(t.groups, func(g *pieceGroup) bool { return g.over(t.c.limits) })
}

// order makes the clusters.
func (t *Trial) order() {
	if t.fresh != nil {
		return
	}
	t.fresh = make([]*cluster, 0, len(t.groups))
	for _, g := range t.groups {
		k := g.whole()
		if k.chunks == nil {
			k.linearize(budgetUsable, t.c.seed)
		}
		t.fresh = append(t.fresh, k)
	}
}

// Diagrams returns the diagrams of the clusters that the change concerns, before and after it. The
// change must not be oversized.
func (t *Trial) Diagrams() (before, after []FeeSize) {
	t.plan()
	t.order()
	diagram := func(list []*cluster) (sums []FeeSize) {
		for _, k := range list {
			for _, chunk := range k.chunks {
				sums = append(sums, chunk.FeeSize)
			}
		}
		Diagram(sums)
		return sums
	}
	return diagram(t.old), diagram(t.fresh)
}

// Commit makes the change, unless it is oversized.
func (t *Trial) Commit() bool {
	if t.Oversized() {
		return false
	}
	t.order()
	for _, k := range t.old {
		t.c.take(k)
	}
	for _, k := range t.fresh {
		t.c.put(k)
	}
	return true
}
