package mempool

import (
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
)

// maxCluster is how many transactions are reported at most: with more of them the
// question is not worth what the answer costs.
const maxCluster = 500

// cluster answers with the chunks of a cluster.
func (m *Mempool) cluster(q *messages.GetPoolCluster) ([]messages.PoolChunk, error) {
	e := m.pool.Lookup(&q.ID)
	if e == nil {
		return nil, messages.ErrNotInPool
	}
	return describeChunks(txpool.ChunksOf(m.pool).Cluster(e)), nil
}

func (m *Mempool) chunks(*messages.GetPoolChunks) ([]messages.PoolChunk, error) {
	return describeChunks(txpool.ChunksOf(m.pool).All()), nil
}

func describeChunks(chunks []txpool.Chunk) []messages.PoolChunk {
	list := make([]messages.PoolChunk, len(chunks))
	for i, chunk := range chunks {
		list[i] = messages.PoolChunk{Fee: chunk.Fees, Weight: chunk.Weight}
		for _, e := range chunk.Entries {
			list[i].IDs = append(list[i].IDs, e.ID)
		}
	}
	return list
}

func (m *Mempool) clusters(q *messages.GetPoolClusters) (messages.PoolClusters, error) {
	policy := m.pool.Policy()
	found := messages.PoolClusters{
		MinFee: m.pool.MinFee(m.now()).PerKvB(), MinRelayFee: policy.MinRelayFee.PerKvB(),
		IncrementalFee: policy.IncrementalFee.PerKvB(), DustFee: policy.DustFee.PerKvB(),
		MaxAncestors:   policy.Limits.Ancestors,
		MaxDescendants: policy.Limits.Descendants, MaxAncestorVSize: policy.Limits.AncestorVSize,
		MaxDescVSize: policy.Limits.DescendantVSize, Estimates: m.fees.estimates(q.Fees),
	}
	if policy.Order == txpool.ByClusters {
		found.MaxCluster, found.MaxClusterVSize = policy.Limits.Cluster, policy.Limits.ClusterVSize
	}
	var todo []*txpool.Entry
	for i := range q.IDs {
		if e := m.pool.Lookup(&q.IDs[i]); e != nil {
			todo = append(todo, e)
		}
	}
	seen := make(map[*txpool.Entry]bool)
	for len(todo) > 0 {
		e := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[e] {
			continue
		}
		if seen[e] = true; len(seen) > maxCluster {
			found.Txs, found.TooMany = nil, true
			return found, nil
		}
		t := messages.ClusterTx{ID: e.ID, VSize: e.VSize, ModifiedFee: e.Modified}
		for _, parent := range e.Parents() {
			t.Depends = append(t.Depends, parent.ID)
		}
		for _, in := range e.Tx.TxIn {
			t.Spends = append(t.Spends, in.PreviousOutPoint)
		}
		found.Txs = append(found.Txs, t)
		todo = append(append(todo, e.Parents()...), e.Children()...)
	}
	return found, nil
}
