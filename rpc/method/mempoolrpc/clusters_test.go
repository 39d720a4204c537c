package mempoolrpc_test

import (
	"strings"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/mempoolrpc"
)

// clustersPool answers as a pool with one cluster does.
func clustersPool(c actor.Context) {
	chunks := []messages.PoolChunk{
		{Fee: 3000, Weight: 800, IDs: []chainhash.Hash{{1}, {2}}}, {Fee: 100, Weight: 400, IDs: []chainhash.Hash{{3}}},
	}
	switch m := c.Message().(type) {
	case *ask.Call[messages.GetPoolCluster, []messages.PoolChunk]:
		if m.Req.ID != chunks[0].IDs[0] {
			m.Answer(nil, messages.ErrNotInPool)
			return
		}
		m.Answer(chunks, nil)
	case *ask.Call[messages.GetPoolChunks, []messages.PoolChunk]:
		m.Answer(chunks, nil)
	case *ask.Call[messages.GetPoolTx, messages.PoolTx]:
		m.Answer(messages.PoolTx{ChunkFee: 3000, ChunkWeight: 800}, nil)
	case *ask.Call[messages.GetPoolInfo, messages.PoolInfo]:
		m.Answer(messages.PoolInfo{Clusters: &messages.PoolLimits{Count: 64, VSize: 101_000, Optimal: true}}, nil)
	default:
		ask.Unhandled(c)
	}
}

// A pool that judges by clusters shows them, and no other pool does.
func TestClusters(t *testing.T) {
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	net.PoolOrder = txpool.ByClusters
	pool := actortest.New(t).Spawn("mempool", func() actor.Actor { return actor.ReceiveFunc(clustersPool) })
	table, err := command.NewTable(mempoolrpc.Commands(mempoolrpc.Deps{Network: net, Pool: pool}))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, table: table}
	first := chainhash.Hash{1}.String()
	for _, test := range []struct{ method, params, want string }{
		{"getmempoolcluster", `["` + first + `"]`, `{"clusterweight":1200,"txcount":3,"chunks":[` +
			`{"chunkfee":0.00003000,"chunkweight":800,"txs":["` + first + `","` + chainhash.Hash{2}.String() + `"]},` +
			`{"chunkfee":0.00000100,"chunkweight":400,"txs":["` + chainhash.Hash{3}.String() + `"]}]}`},
		{"getmempoolcluster", `["` + someID + `"]`, `{"code":-5,"message":"Transaction not in mempool"}`},
		{"getmempoolcluster", `["x"]`, `{"code":-8,"message":"txid must be of length 64 (not 1, for 'x')"}`},
		{"getmempoolfeeratediagram", `[]`, `[{"weight":0,"fee":0.00000000},{"weight":800,"fee":0.00003000},` +
			`{"weight":1200,"fee":0.00003100}]`},
	} {
		if got := r.call(test.method, test.params); got != test.want {
			t.Errorf("%s %s\ngot  %s\nwant %s", test.method, test.params, got, test.want)
		}
	}
	entry := r.call("getmempoolentry", `["`+first+`"]`)
	if !strings.Contains(entry, `","chunkweight":800,"fees":{`) || !strings.Contains(entry, `,"chunk":0.00003000},"depends"`) {
		t.Error(entry)
	}
	info := r.call("getmempoolinfo", `[]`)
	if !strings.HasSuffix(info, `,"limitclustercount":64,"limitclustersize":101000,"optimal":true}`) {
		t.Error(info)
	}
	other := newRig(t)
	for _, method := range []string{"getmempoolcluster", "getmempoolfeeratediagram"} {
		if got := other.call(method, `[]`); got != `{"code":-32601,"message":"Method not found"}` {
			t.Errorf("by ancestors %s: %s", method, got)
		}
	}
}
