package mempool_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/mempool"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
)

// A pool that judges by clusters tells of them, also after a block and when the block has left the
// chain again. No other pool does.
func TestClusters(t *testing.T) {
	for _, order := range []txpool.Order{txpool.ByAncestors, txpool.ByClusters} {
		r := newRig(t, func(cfg *mempool.Config) { cfg.Policy.Order = order })
		parent := spend(50*coin-1000, r.coins[0])
		child := spend(50*coin-6000, outOf(parent)) // pays 5000
		alone := spend(50*coin-2000, r.coins[1])
		ids := []chainhash.Hash{parent.TxHash(), child.TxHash(), alone.TxHash()}
		if err := r.submit(parent); err != nil {
			t.Fatal(err)
		}
		tip := r.mine(1)
		if err := r.submit(child); err != nil {
			t.Fatal(err)
		}
		if err := r.submit(alone); err != nil {
			t.Fatal(err)
		}
		ok(ask.Ask(t.Context(), r.chain, messages.InvalidateBlock{Hash: tip})).must(t)
		cluster := ok(ask.Ask(t.Context(), r.pool, messages.GetPoolCluster{ID: ids[1]})).must(t)
		chunks := ok(ask.Ask(t.Context(), r.pool, messages.GetPoolChunks{})).must(t)
		tx := ok(ask.Ask(t.Context(), r.pool, messages.GetPoolTx{ID: ids[0]})).must(t)
		info := ok(ask.Ask(t.Context(), r.pool, messages.GetPoolInfo{})).must(t)
		if order == txpool.ByAncestors {
			if len(cluster) > 0 || len(chunks) > 0 || tx.ChunkWeight != 0 || info.Clusters != nil {
				t.Errorf("by ancestors: %v, %v, %v, %v", cluster, chunks, tx.ChunkWeight, info.Clusters)
			}
			continue
		}
		weight := 2 * tx.Weight
		if len(cluster) != 1 || cluster[0].Fee != 6000 || cluster[0].Weight != weight ||
			!slices.Equal(cluster[0].IDs, ids[:2]) {
			t.Errorf("cluster %+v, want 6000 for %d of %v", cluster, weight, ids[:2])
		}
		if len(chunks) != 2 || chunks[1].Fee != 2000 || !slices.Equal(chunks[1].IDs, ids[2:]) {
			t.Errorf("chunks %+v", chunks)
		}
		if tx.ChunkFee != 6000 || tx.ChunkWeight != weight {
			t.Errorf("%d for %d", tx.ChunkFee, tx.ChunkWeight)
		}
		if c := info.Clusters; c == nil || *c != (messages.PoolLimits{Count: 64, VSize: 101_000, Optimal: true}) {
			t.Errorf("limits %+v", c)
		}
		if _, err := ask.Ask(t.Context(), r.pool, messages.GetPoolCluster{}); !errors.Is(err, messages.ErrNotInPool) {
			t.Errorf("not in the pool: %v", err)
		}
	}
}
