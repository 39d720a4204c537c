package linear

import (
	"bytes"
	"cmp"
	"container/heap"
)

// compareChunks orders chunks as they are mined: by fee rate, then those first that less of the
// same rate is before, then those of which the last transaction is the least.
func compareChunks(a *cluster, i int, b *cluster, j int) int {
	if a == b {
		return cmp.Compare(i, j)
	}
	x, y := &a.chunks[i], &b.chunks[j]
	if order := y.CompareRate(x.FeeSize); order != 0 {
		return order
	}
	return cmp.Or(cmp.Compare(x.prefix, y.prefix), bytes.Compare(x.last[:], y.last[:]))
}

// Compare orders transactions that are there as they are mined.
func (c *Clusters) Compare(a, b *Tx) int {
	c.settle()
	if a.in == b.in {
		return cmp.Compare(a.at, b.at)
	}
	return compareChunks(a.in, a.in.chunkOf(a.at), b.in, b.in.chunkOf(b.at))
}

// worst is a heap of clusters, of which the first has the chunk that is mined last.
type worst []*cluster //nolint:recvcheck // heap.Interface wants both

func (w worst) Len() int { return len(w) }

func (w worst) Less(i, j int) bool {
	a, b := w[i], w[j]
	return compareChunks(a, len(a.chunks)-1, b, len(b.chunks)-1) > 0
}

func (w worst) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].place, w[j].place = i, j
}

func (w *worst) Push(x any) {
	k := x.(*cluster)
	k.place = len(*w)
	*w = append(*w, k)
}

func (w *worst) Pop() any {
	last := len(*w) - 1
	k := (*w)[last]
	(*w)[last] = nil
	*w = (*w)[:last]
	return k
}

// Worst returns the chunk that is mined last; it is empty where there is none.
func (c *Clusters) Worst() TxChunk {
	c.settle()
	if len(c.worst) == 0 {
		return TxChunk{}
	}
	k := c.worst[0]
	return k.txChunk(len(k.chunks) - 1)
}

// A Walk visits all chunks in the order in which they are mined. Meanwhile nothing must change.
type Walk struct{ left nextChunks }

// nextChunks is a heap of the clusters with the number of the chunk of each that is next.
type nextChunks []nextChunk //nolint:recvcheck // heap.Interface wants both

type nextChunk struct {
	*cluster

	chunk int
}

func (n nextChunks) Len() int { return len(n) }

func (n nextChunks) Less(i, j int) bool {
	return compareChunks(n[i].cluster, n[i].chunk, n[j].cluster, n[j].chunk) < 0
}

func (n nextChunks) Swap(i, j int) { n[i], n[j] = n[j], n[i] }

func (n *nextChunks) Push(x any) { *n = append(*n, x.(nextChunk)) }

func (n *nextChunks) Pop() any {
	last := len(*n) - 1
	x := (*n)[last]
	*n = (*n)[:last]
	return x
}

// Walk begins to visit chunks.
func (c *Clusters) Walk() *Walk {
	c.settle()
	w := &Walk{make(nextChunks, len(c.worst))}
	for i, k := range c.worst {
		w.left[i] = nextChunk{k, 0}
	}
	heap.Init(&w.left)
	return w
}

// Chunk returns the chunk that is visited; at the end it is empty.
func (w *Walk) Chunk() TxChunk {
	if len(w.left) == 0 {
		return TxChunk{}
	}
	at := w.left[0]
	return at.txChunk(at.chunk)
}

// Take goes on to the next chunk.
func (w *Walk) Take() {
	at := &w.left[0]
	if at.chunk++; at.chunk == len(at.chunks) {
		w.Skip()
		return
	}
	heap.Fix(&w.left, 0)
}

// Skip goes on, past what else there is of the same cluster.
func (w *Walk) Skip() { heap.Pop(&w.left) }

// Ancestors returns what a transaction depends on, with itself, in the order of mining.
func (c *Clusters) Ancestors(tx *Tx) []*Tx {
	return c.related(tx, func(k *cluster) Set { return k.graph.Ancestors(tx.at) })
}

// Descendants returns what depends on a transaction, with itself, in the order of mining.
func (c *Clusters) Descendants(tx *Tx) []*Tx {
	return c.related(tx, func(k *cluster) Set { return k.graph.Descendants(tx.at) })
}

func (c *Clusters) related(tx *Tx, relatives func(*cluster) Set) (list []*Tx) {
	c.settle()
	if tx.in != nil {
		for i := range relatives(tx.in).All() {
			list = append(list, tx.in.txs[i])
		}
	}
	return list
}

// TxChunk is a chunk of a cluster with its transactions, in the order of mining. The list must not
// be written to.
type TxChunk struct {
	FeeSize

	Txs []*Tx
}

func (k *cluster) txChunk(i int) TxChunk {
	begin := 0
	if i > 0 {
		begin = k.chunks[i-1].End
	}
	return TxChunk{k.chunks[i].FeeSize, k.txs[begin:k.chunks[i].End]}
}

// Cluster returns the chunks of the cluster of a transaction in the order of mining; none where it
// is not there.
func (c *Clusters) Cluster(tx *Tx) (list []TxChunk) {
	c.settle()
	if k := tx.in; k != nil {
		for i := range k.chunks {
			list = append(list, k.txChunk(i))
		}
	}
	return list
}

// Chunk returns the chunk that a transaction is in; it is empty where the transaction is not there.
func (c *Clusters) Chunk(tx *Tx) TxChunk {
	c.settle()
	if tx.in == nil {
		return TxChunk{}
	}
	return tx.in.txChunk(tx.in.chunkOf(tx.at))
}

// Distinct returns how many clusters transactions are in.
func (c *Clusters) Distinct(txs []*Tx) int {
	c.settle()
	seen := make(map[*cluster]struct{})
	for _, tx := range txs {
		if tx.in != nil {
			seen[tx.in] = struct{}{}
		}
	}
	return len(seen)
}
