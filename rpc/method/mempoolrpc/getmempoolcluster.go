package mempoolrpc

import (
	"context"
	"errors"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// clusterReply is what getmempoolcluster returns.
type clusterReply struct {
	Weight int64        `json:"clusterweight"`
	Count  int          `json:"txcount"`
	Chunks []chunkReply `json:"chunks"`
}

type chunkReply struct {
	Fee    jsontree.Amount `json:"chunkfee"`
	Weight int64           `json:"chunkweight"`
	Txs    []string        `json:"txs"`
}

func getMempoolCluster(d *Deps) command.Command {
	return command.Command{
		Name:     "getmempoolcluster",
		Category: command.Blockchain,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns the cluster of a transaction of the memory pool: all that is connected with it as parents " +
			"and children.",
		Params: []command.Param{{Name: "txid", Type: command.Hex, Help: "its id"}},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Number, Key: "clusterweight", Help: "weight of all; signature operations may raise it"},
			{Type: command.Number, Key: "txcount", Help: "number of transactions"},
			{Type: command.Array, Key: "chunks", Help: "parts that are mined whole", Inner: []command.Result{
				{Type: command.Object, Help: "a part", Inner: []command.Result{
					{Type: command.Amount, Key: "chunkfee", Help: "modified fees of its transactions"},
					{Type: command.Number, Key: "chunkweight", Help: "their weight"},
					{Type: command.Array, Key: "txs", Help: "in the order of mining", Inner: []command.Result{
						{Type: command.Hex, Help: "id of a transaction"},
					}},
				}},
			}},
		}}},
		Examples: []string{`["mytxid"]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			id, err := arg.Hash(a.Value(0), "txid")
			if err != nil {
				return nil, err
			}
			chunks, err := ask.Ask(ctx, d.Pool, messages.GetPoolCluster{ID: id})
			if errors.Is(err, messages.ErrNotInPool) {
				return nil, errNotInPool
			}
			return newClusterReply(chunks), err
		},
	}
}

func newClusterReply(chunks []messages.PoolChunk) (r clusterReply) {
	for _, c := range chunks {
		r.Weight += c.Weight
		r.Count += len(c.IDs)
		r.Chunks = append(r.Chunks, chunkReply{jsontree.Amount(c.Fee), c.Weight, texts(c.IDs)})
	}
	return r
}

// corner is one of those that a diagram has.
type corner struct {
	Weight int64           `json:"weight"`
	Fee    jsontree.Amount `json:"fee"`
}

func getMempoolFeeRateDiagram(d *Deps) command.Command {
	return command.Command{
		Name:     "getmempoolfeeratediagram",
		Category: command.Hidden,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns how much the memory pool pays at most for each weight: the corners of that line.",
		Results: []command.Result{{Type: command.Array, Inner: []command.Result{
			{Type: command.Object, Help: "a corner", Inner: []command.Result{
				{Type: command.Number, Key: "weight", Help: "weight up to here; signature operations may raise it"},
				{Type: command.Amount, Key: "fee", Help: "modified fees up to here"},
			}},
		}}},
		Examples: []string{`[]`},
		Run: func(ctx context.Context, _ *command.Args) (any, error) {
			chunks, err := ask.Ask(ctx, d.Pool, messages.GetPoolChunks{})
			corners := make([]corner, 1, len(chunks)+1)
			for i, c := range chunks {
				corners = append(corners, corner{corners[i].Weight + c.Weight, corners[i].Fee + jsontree.Amount(c.Fee)})
			}
			return corners, err
		},
	}
}
