package messages

import "github.com/btcsuite/btcd/chaincfg/chainhash"

// GetPoolCluster asks for the chunks of the cluster that a transaction of the pool is in, in the
// order of mining. A pool that does not judge by clusters has none.
//
// Errors: [ErrNotInPool].
type GetPoolCluster struct {
	Asks[[]PoolChunk]

	ID chainhash.Hash
}

// GetPoolChunks asks for the chunks of all clusters, in the order of mining. A pool that does not
// judge by clusters has none.
type GetPoolChunks struct{ Asks[[]PoolChunk] }

// PoolChunk is a part of a cluster that is mined whole.
type PoolChunk struct {
	Fee    int64            // modified, of all its transactions
	Weight int64            // that signature operations may raise
	IDs    []chainhash.Hash // in the order of mining
}

// PoolLimits are the limits of clusters, and whether the order of all is known to be the best.
type PoolLimits struct {
	Count   int   // of transactions
	VSize   int64 // of a cluster
	Optimal bool
}
