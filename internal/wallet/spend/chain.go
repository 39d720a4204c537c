package spend

import (
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// checkChain refuses a transaction that depends on more in the memory pool than the pool allows:
// nobody would ever see it.
func (b *builder) checkChain(tx *wire.MsgTx, vsize int) error {
	pool := &b.Pool
	if b.Options.AnyChain || len(pool.Txs) == 0 {
		return nil
	}
	byID := make(map[chainhash.Hash]*messages.ClusterTx, len(pool.Txs))
	children := make(map[chainhash.Hash][]chainhash.Hash)
	for i := range pool.Txs {
		t := &pool.Txs[i]
		byID[t.ID] = t
		for _, parent := range t.Depends {
			children[parent] = append(children[parent], t.ID)
		}
	}
	var parents []chainhash.Hash
	for _, in := range tx.TxIn {
		parents = append(parents, in.PreviousOutPoint.Hash)
	}
	if pool.MaxCluster > 0 {
		return b.checkCluster(byID, children, parents, vsize)
	}
	above, size := reach(byID, parents, func(t *messages.ClusterTx) []chainhash.Hash { return t.Depends })
	switch {
	case len(above)+1 > pool.MaxAncestors:
		return refusalf("too many unconfirmed ancestors [limit: %d]", pool.MaxAncestors)
	case size+int64(vsize) > pool.MaxAncestorVSize:
		return refusalf("exceeds ancestor size limit [limit: %d]", pool.MaxAncestorVSize)
	}
	for id := range above {
		below, size := reach(byID, []chainhash.Hash{id}, func(t *messages.ClusterTx) []chainhash.Hash {
			return children[t.ID]
		})
		switch {
		case size+int64(vsize) > pool.MaxDescVSize:
			return refusalf("exceeds descendant size limit for tx %v [limit: %d]", id, pool.MaxDescVSize)
		case len(below)+1 > pool.MaxDescendants:
			return refusalf("too many descendants for tx %v [limit: %d]", id, pool.MaxDescendants)
		}
	}
	return nil
}

// checkCluster refuses a transaction that would make a cluster too large.
func (b *builder) checkCluster(
	byID map[chainhash.Hash]*messages.ClusterTx, children map[chainhash.Hash][]chainhash.Hash,
	parents []chainhash.Hash, vsize int,
) error {
	all, size := reach(byID, parents, func(t *messages.ClusterTx) []chainhash.Hash {
		return slices.Concat(t.Depends, children[t.ID])
	})
	if len(all)+1 > b.Pool.MaxCluster || size+int64(vsize) > b.Pool.MaxClusterVSize {
		return refusal("too many unconfirmed transactions in cluster")
	}
	return nil
}

// reach returns all transactions that some lead to, those included, and their size.
func reach(
	byID map[chainhash.Hash]*messages.ClusterTx, from []chainhash.Hash,
	next func(t *messages.ClusterTx) []chainhash.Hash,
) (found map[chainhash.Hash]bool, size int64) {
	found = make(map[chainhash.Hash]bool)
	for len(from) > 0 {
		id := from[len(from)-1]
		from = from[:len(from)-1]
		t := byID[id]
		if t == nil || found[id] {
			continue
		}
		found[id] = true
		size += t.VSize
		from = append(from, next(t)...)
	}
	return found, size
}
