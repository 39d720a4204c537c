package txpool

import (
	"github.com/seed61375155/trawl/internal/txpool/feeestimate"
	"github.com/seed61375155/trawl/internal/txpool/linear"
)

// A Chunk is a part of a cluster that is mined whole.
type Chunk struct {
	Fees    int64    // modified
	Weight  int64    // that signature operations may raise
	Entries []*Entry // in the order of mining
}

// Chunks shows how the clusters of a pool are mined. There is nothing to show of a pool that does
// not judge by clusters.
type Chunks struct{ r *clusters }

// ChunksOf returns the chunks of a pool.
func ChunksOf(p *Pool) Chunks {
	r, _ := p.relatives.(*clusters)
	return Chunks{r}
}

// Of returns the chunk that an entry is in.
func (c Chunks) Of(e *Entry) Chunk {
	if c.r == nil {
		return Chunk{}
	}
	return c.r.chunk(c.r.graph.Chunk(e.node))
}

// Cluster returns the chunks of the cluster that an entry is in, in the order of mining.
func (c Chunks) Cluster(e *Entry) (list []Chunk) {
	if c.r == nil {
		return nil
	}
	for _, chunk := range c.r.graph.Cluster(e.node) {
		list = append(list, c.r.chunk(chunk))
	}
	return list
}

// All returns the chunks of all clusters in the order of mining.
func (c Chunks) All() (list []Chunk) {
	if c.r == nil {
		return nil
	}
	walk := c.r.graph.Walk()
	for chunk := walk.Chunk(); len(chunk.Txs) > 0; chunk = walk.Chunk() {
		list = append(list, c.r.chunk(chunk))
		walk.Take()
	}
	return list
}

// Rates returns the fee rates of the chunks that the best block would have, with how much of its weight each takes, in
// the order of mining.
func (c Chunks) Rates(maxWeight, reserved int64, minRate FeeRate) (list []feeestimate.Part) {
	if c.r == nil {
		return nil
	}
	scale := c.r.pool.rules.WitnessScale
	for _, chunk := range c.r.chooseChunks(maxWeight, reserved, minRate) {
		vsize := virtual(chunk.Size, scale)
		list = append(list, feeestimate.Part{Rate: RateOf(chunk.Fee, vsize).PerKvB(), Weight: vsize * scale})
	}
	return list
}

// Optimal reports whether the order of all clusters is known to be the best.
func (c Chunks) Optimal() bool { return c.r != nil && c.r.graph.Optimal() }

// chunk sums up the fees without the bounds that orders are found within.
func (r *clusters) chunk(of linear.TxChunk) Chunk {
	c := Chunk{Weight: of.Size, Entries: r.entriesOf(of.Txs)}
	for _, e := range c.Entries {
		c.Fees = saturatingAdd(c.Fees, e.Modified)
	}
	return c
}
