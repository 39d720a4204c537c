package corepool

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/corenode/poolcopy"
	"github.com/seed61375155/trawl/messages"
)

// Default limits of Core's pool that Core does not report.
const (
	dustFee      = 3000
	maxRelatives = 25
	maxRelativeV = 101_000

	maxCluster = 500 // transactions that are reported
)

// clusters answers with what transactions are connected to, and what the other pool asks.
func (p *Mirror) clusters(c actor.Context, m *ask.Call[messages.GetPoolClusters, messages.PoolClusters]) {
	p.read(func() {
		var list []*poolcopy.Tx
		if len(m.Req.IDs) > 0 {
			list = p.pool.All()
		}
		p.tasks.Go(c, func() func() {
			got, err := rules(m.Ctx, p.cfg.Node)
			if err == nil {
				got.Txs, got.TooMany = connected(list, m.Req.IDs)
				got.Estimates = estimates(m.Ctx, p.cfg.Node, m.Req.Fees)
			}
			return func() { m.Answer(got, err) }
		})
	})
}

// rules asks for what the other pool asks of transactions.
func rules(ctx context.Context, node Node) (messages.PoolClusters, error) {
	var info struct {
		MinFee   corenode.Amount `json:"mempoolminfee"`
		MinRelay corenode.Amount `json:"minrelaytxfee"`
		More     corenode.Amount `json:"incrementalrelayfee"`

		Cluster      int   `json:"limitclustercount"` // from version 31 on
		ClusterVSize int64 `json:"limitclustersize"`
	}
	if err := node.Call(ctx, &info, "getmempoolinfo"); err != nil {
		return messages.PoolClusters{}, refused(err)
	}
	if info.MinFee == info.MinRelay {
		info.MinFee = 0 // Core tells the greater of both
	}
	return messages.PoolClusters{
		MinFee: int64(info.MinFee), MinRelayFee: int64(info.MinRelay), IncrementalFee: int64(info.More),
		DustFee:      dustFee,
		MaxAncestors: maxRelatives, MaxDescendants: maxRelatives,
		MaxAncestorVSize: maxRelativeV, MaxDescVSize: maxRelativeV,
		MaxCluster: max(info.Cluster, 0), MaxClusterVSize: max(info.ClusterVSize, 0),
	}, nil
}

// reasonCore is what an estimate of the other node rests on, which it does not tell.
const reasonCore = "estimatesmartfee of Bitcoin Core"

// estimates asks the other node for fee rates; nil where it may not be asked, or answers nonsense: then there are none.
func estimates(ctx context.Context, node Node, queries []messages.FeeQuery) []messages.FeeEstimate {
	if len(queries) == 0 {
		return nil
	}
	params := make([][]any, len(queries))
	for i, q := range queries {
		mode := "economical"
		if q.Conservative {
			mode = "conservative"
		}
		params[i] = []any{q.Target, mode}
	}
	results, failed, err := node.Batch(ctx, "estimatesmartfee", params)
	if err != nil {
		return nil
	}
	list := make([]messages.FeeEstimate, len(queries))
	for i := range list {
		var got struct {
			FeeRate corenode.Amount `json:"feerate"`
			Blocks  int             `json:"blocks"`
		}
		known := failed == nil || failed[i] == nil
		if known && json.Unmarshal(results[i], &got) == nil && got.FeeRate > 0 {
			list[i] = messages.FeeEstimate{Rate: int64(got.FeeRate), Blocks: got.Blocks, Reason: reasonCore}
		}
	}
	return list
}

// connected returns transactions with all that they are connected to, in any number of
// steps, and whether that is too much. It runs in a worker.
func connected(list []*poolcopy.Tx, ids []chainhash.Hash) (txs []messages.ClusterTx, tooMany bool) {
	all := make(map[chainhash.Hash]*messages.ClusterTx, len(list))
	for _, tx := range list {
		all[tx.ID] = &messages.ClusterTx{ID: tx.ID, VSize: tx.VSize, ModifiedFee: tx.ModifiedFee}
	}
	children := map[chainhash.Hash][]chainhash.Hash{}
	for _, tx := range list {
		to := all[tx.ID]
		for _, in := range tx.Msg().TxIn {
			out := in.PreviousOutPoint
			to.Spends = append(to.Spends, out)
			if all[out.Hash] != nil && !slices.Contains(to.Depends, out.Hash) {
				to.Depends = append(to.Depends, out.Hash)
				children[out.Hash] = append(children[out.Hash], tx.ID)
			}
		}
	}
	seen := map[chainhash.Hash]bool{}
	for next := slices.Clone(ids); len(next) > 0; {
		id := next[0]
		next = next[1:]
		tx := all[id]
		if tx == nil || seen[id] {
			continue
		}
		if len(txs) == maxCluster {
			return nil, true
		}
		seen[id] = true
		txs = append(txs, *tx)
		next = append(append(next, tx.Depends...), children[id]...)
	}
	return txs, false
}
