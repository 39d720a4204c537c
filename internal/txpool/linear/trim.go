package linear

import (
	"bytes"
	"container/heap"
)

// Join adds dependencies between transactions that are there, as where blocks leave the chain. It
// removes what would be beyond the limits then, with all that depends on it, and returns what.
func (c *Clusters) Join(deps []Dep) (removed []*Tx) {
	t := c.Try()
	t.deps = deps
	if t.Oversized() {
		for _, g := range t.groups {
			if g.over(c.limits) {
				removed = append(removed, g.trim(c.limits)...)
			}
		}
		for _, tx := range removed {
			t.Remove(tx)
		}
	}
	t.Commit()
	return removed
}

// trimmer takes transactions of a group one by one. Chunks of the highest fee rates come first.
// Each transaction follows its parents and its predecessor in its cluster. It is left where the
// cluster would become too large.
type trimmer struct {
	limits Limits
	txs    []*toTrim
	ready  readyToTrim
}

// toTrim is a transaction with what connects it.
type toTrim struct {
	tx    *Tx
	chunk FeeSize
	needs []*toTrim
	opens []*toTrim
	left  int // of needs that are not taken
	taken bool

	// of the transactions taken that are connected; one of them has the sums
	root  *toTrim
	count int
	size  int64
}

// trim returns what has to leave so that a group is within the limits.
func (g *pieceGroup) trim(limits Limits) (left []*Tx) {
	t := trimmer{limits: limits}
	at := make(map[*Tx]*toTrim, g.count)
	for _, p := range g.pieces {
		for i, tx := range p.txs {
			one := &toTrim{tx: tx, chunk: p.chunks[p.chunkOf(i)].FeeSize, count: 1, size: tx.fees.Size}
			one.root, at[tx] = one, one
			t.txs = append(t.txs, one)
			if i > 0 {
				t.txs[len(t.txs)-2].before(one)
			}
		}
	}
	for _, d := range g.deps {
		at[d.Parent].before(at[d.Child])
	}
	t.run()
	for _, one := range t.txs {
		if !one.taken {
			left = append(left, one.tx)
		}
	}
	return left
}

func (o *toTrim) before(later *toTrim) {
	o.opens, later.needs = append(o.opens, later), append(later.needs, o)
	later.left++
}

func (o *toTrim) find() *toTrim {
	for o.root != o {
		o.root = o.root.root
		o = o.root
	}
	return o
}

func (t *trimmer) run() {
	for _, one := range t.txs {
		if one.left == 0 {
			t.ready = append(t.ready, one)
		}
	}
	for heap.Init(&t.ready); len(t.ready) > 0; {
		one := heap.Pop(&t.ready).(*toTrim)
		if !t.take(one) {
			continue
		}
		for _, later := range one.opens {
			if later.left--; later.left == 0 {
				heap.Push(&t.ready, later)
			}
		}
	}
}

// take connects a transaction with its needs, if they fit together.
func (t *trimmer) take(one *toTrim) bool {
	roots := make(map[*toTrim]struct{})
	count, size := one.count, one.size
	for _, n := range one.needs {
		r := n.find()
		if _, seen := roots[r]; !seen {
			roots[r] = struct{}{}
			count, size = count+r.count, size+r.size
		}
	}
	if count > t.limits.Count || size > t.limits.Size {
		return false
	}
	one.taken, one.count, one.size = true, count, size
	for r := range roots {
		r.root = one
	}
	return true
}

// readyToTrim is a heap of transactions of which all needs are taken.
type readyToTrim []*toTrim //nolint:recvcheck // heap.Interface wants both

func (r readyToTrim) Len() int { return len(r) }

func (r readyToTrim) Less(i, j int) bool {
	a, b := r[i], r[j]
	switch order := a.chunk.CompareRate(b.chunk); {
	case order != 0:
		return order > 0
	case a.chunk.Size != b.chunk.Size:
		return a.chunk.Size < b.chunk.Size
	}
	return bytes.Compare(a.tx.ID[:], b.tx.ID[:]) < 0
}

func (r readyToTrim) Swap(i, j int) { r[i], r[j] = r[j], r[i] }

func (r *readyToTrim) Push(x any) { *r = append(*r, x.(*toTrim)) }

func (r *readyToTrim) Pop() any {
	last := len(*r) - 1
	x := (*r)[last]
	*r = (*r)[:last]
	return x
}
