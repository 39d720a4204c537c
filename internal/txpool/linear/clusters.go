package linear

import (
	"bytes"
	"container/heap"
)

// Limits bound a cluster: the number of its transactions, at most [MaxTxs], and the sum of their
// sizes in units of weight.
type Limits struct {
	Count int
	Size  int64
}

// Budgets of work, in the unit of [Search]: for a cluster that has changed, so that its order may
// be used, and for all that is not the best after a change.
const (
	budgetUsable = 75_000
	budgetChange = 5 * budgetUsable
)

// A Tx is a transaction that is or will be in [Clusters].
type Tx struct {
	ID [32]byte // decides between transactions where nothing else does

	fees FeeSize
	in   *cluster // nil: it is not there
	at   int      // index in the cluster
}

// NewTx returns a transaction that is nowhere yet. Its size is in units of weight, above 0.
func NewTx(id [32]byte, fees FeeSize) *Tx { return &Tx{ID: id, fees: fees.limited()} }

// Here reports whether the transaction is in clusters.
func (t *Tx) Here() bool { return t.in != nil }

// Clusters are the clusters of many transactions. They belong to one goroutine.
type Clusters struct {
	limits Limits
	seed   uint64
	count  int
	usage  int64 // see Usage

	worst worst                 // all clusters
	dirty map[*cluster]struct{} // that are not what their fields say
	rough map[*cluster]struct{} // whose order may not be the best
}

// NewClusters returns none yet. The seed decides how orders are looked for, so that nobody can know
// which clusters take long.
func NewClusters(limits Limits, seed uint64) *Clusters {
	limits.Count = min(limits.Count, MaxTxs)
	return &Clusters{
		limits: limits, seed: seed,
		dirty: make(map[*cluster]struct{}), rough: make(map[*cluster]struct{}),
	}
}

// Len returns the number of transactions.
func (c *Clusters) Len() int { return c.count }

// cluster is a connected set. Indexes of transactions are their places in its linearization.
type cluster struct {
	graph   *Graph
	txs     []*Tx
	chunks  []clusterChunk
	optimal bool

	gone  Set // that are removed, but not cut out yet
	place int // in worst
}

// clusterChunk is a chunk with what decides its place among those of other clusters.
type clusterChunk struct {
	Chunk

	prefix int64     // size of all chunks of the cluster up to here that have its rate
	last   *[32]byte // the greatest id
}

var identity = func() (list [MaxTxs]int) {
	for i := range list {
		list[i] = i
	}
	return list
}()

// linearize puts a cluster in order and cuts it into chunks. It returns the cost.
func (k *cluster) linearize(budget int, seed uint64) (cost int) {
	k.optimal = true
	if len(k.txs) > 1 {
		var list []int
		list, k.optimal, cost = k.graph.Linearize(Search{
			Old: identity[:len(k.txs)], Budget: budget, Seed: seed,
			Order: func(a, b int) int { return bytes.Compare(k.txs[a].ID[:], k.txs[b].ID[:]) },
		})
		k.graph = k.graph.reordered(list)
		txs := make([]*Tx, len(list))
		for to, from := range list {
			txs[to] = k.txs[from]
		}
		k.txs = txs
	}
	k.cut()
	return cost
}

// cut makes the chunks.
func (k *cluster) cut() {
	begin := 0
	k.chunks = k.chunks[:0]
	for i, one := range k.graph.Chunks(identity[:len(k.txs)]) {
		chunk := clusterChunk{Chunk: one, prefix: one.Size, last: &k.txs[begin].ID}
		if i > 0 && one.CompareRate(k.chunks[i-1].FeeSize) == 0 {
			chunk.prefix += k.chunks[i-1].prefix
		}
		for ; begin < one.End; begin++ {
			if id := &k.txs[begin].ID; bytes.Compare(id[:], chunk.last[:]) > 0 {
				chunk.last = id
			}
		}
		k.chunks = append(k.chunks, chunk)
	}
}

// chunkOf returns the number of the chunk that a transaction is in.
func (k *cluster) chunkOf(at int) int {
	for i := range k.chunks {
		if at < k.chunks[i].End {
			return i
		}
	}
	return len(k.chunks) - 1 // not reached: the last chunk ends where the cluster does
}

// pieces returns what a cluster falls into without some of its transactions. The pieces are not
// linearized.
func (k *cluster) pieces(without Set) (list []*cluster) {
	for left := k.graph.All() &^ without; left != 0; {
		set := k.graph.component(left, left.first())
		left &^= set
		piece := &cluster{txs: make([]*Tx, 0, set.Len())}
		at := make([]int, 0, set.Len())
		for i := range set.All() {
			piece.txs, at = append(piece.txs, k.txs[i]), append(at, i)
		}
		piece.graph = k.graph.reordered(at)
		list = append(list, piece)
	}
	return list
}

// put adds a cluster that is linearized.
func (c *Clusters) put(k *cluster) {
	for at, tx := range k.txs {
		tx.in, tx.at = k, at
	}
	c.count += len(k.txs)
	c.usage += k.usage()
	heap.Push(&c.worst, k)
	if !k.optimal {
		c.rough[k] = struct{}{}
	}
}

// take removes a cluster. Its transactions are nowhere then.
func (c *Clusters) take(k *cluster) {
	for at, tx := range k.txs {
		if !k.gone.Has(at) {
			tx.in = nil
			c.count--
		}
	}
	c.usage -= k.usage()
	heap.Remove(&c.worst, k.place)
	delete(c.rough, k)
	delete(c.dirty, k)
}

// Add adds a transaction that spends from others, and reports whether its cluster is within the
// limits. If not nothing has changed.
func (c *Clusters) Add(tx *Tx, parents ...*Tx) bool {
	t := c.Try()
	t.Add(tx, parents...)
	return t.Commit()
}

// Remove removes a transaction. Its descendants stay, and keep its ancestors.
func (c *Clusters) Remove(tx *Tx) {
	if k := tx.in; k != nil {
		k.gone |= Of(tx.at)
		c.dirty[k] = struct{}{}
		tx.in = nil
		c.count--
	}
}

// SetFee changes the fee of a transaction.
func (c *Clusters) SetFee(tx *Tx, fee int64) {
	tx.fees = FeeSize{fee, tx.fees.Size}.limited()
	if k := tx.in; k != nil {
		k.graph.SetFee(tx.at, fee)
		c.dirty[k] = struct{}{}
	}
}

// settle makes the clusters anew in which something was changed.
func (c *Clusters) settle() {
	for k := range c.dirty {
		pieces := k.pieces(k.gone)
		c.take(k)
		for _, piece := range pieces {
			piece.linearize(budgetUsable, c.seed)
			c.put(piece)
		}
	}
}

// Work goes on looking for the best orders, within a budget for all, and reports whether it has
// found them.
func (c *Clusters) Work() bool {
	c.settle()
	for left := budgetChange; len(c.rough) > 0 && left > 0; {
		for k := range c.rough {
			c.take(k)
			left -= k.linearize(left, c.seed)
			c.put(k)
			break
		}
	}
	return c.Optimal()
}

// Optimal reports whether the orders of all clusters are known to be the best.
func (c *Clusters) Optimal() bool {
	c.settle()
	return len(c.rough) == 0
}
