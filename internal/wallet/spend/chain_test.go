package spend

import (
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// A transaction that the pool would refuse for its ancestors there is not built. Each limit is
// tested from both sides.
func TestCheckChain(t *testing.T) {
	id := func(n byte) chainhash.Hash { return chainhash.Hash{n} }
	tx := wire.NewMsgTx(2)
	for _, n := range []byte{3, 9} { // the pool does not know the second one
		h := id(n)
		tx.AddTxIn(wire.NewTxIn(wire.NewOutPoint(&h, 0), nil, nil))
	}
	// 1 and 2 are the parents of 3, and 4 is a child of 1.
	pool := messages.PoolClusters{
		Txs: []messages.ClusterTx{
			{ID: id(1), VSize: 100},
			{ID: id(2), VSize: 200},
			{ID: id(3), VSize: 300, Depends: []chainhash.Hash{id(1), id(2)}},
			{ID: id(4), VSize: 400, Depends: []chainhash.Hash{id(1)}},
		},
		MaxAncestors: 4, MaxDescendants: 4, MaxAncestorVSize: 700, MaxDescVSize: 900,
	}
	for want, change := range map[string]func(p *messages.PoolClusters, o *Options){
		"": func(*messages.PoolClusters, *Options) {},
		"too many unconfirmed ancestors [limit: 3]": func(p *messages.PoolClusters, _ *Options) { p.MaxAncestors = 3 },
		"exceeds ancestor size limit [limit: 699]": func(p *messages.PoolClusters, _ *Options) {
			p.MaxAncestorVSize = 699
		},
		"too many descendants for tx ":          func(p *messages.PoolClusters, _ *Options) { p.MaxDescendants = 3 },
		"exceeds descendant size limit for tx ": func(p *messages.PoolClusters, _ *Options) { p.MaxDescVSize = 899 },
		"too many unconfirmed transactions in cluster": func(p *messages.PoolClusters, _ *Options) {
			p.MaxCluster, p.MaxClusterVSize = 4, 1100
		},
		"too many unconfirmed transactions": func(p *messages.PoolClusters, _ *Options) {
			p.MaxCluster, p.MaxClusterVSize = 5, 1099
		},
	} {
		p := &Plan{Pool: pool, Options: DefaultOptions()}
		change(&p.Pool, &p.Options)
		err := (&builder{Plan: p}).checkChain(tx, 100)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("got %v, want %q", err, want)
		}
		p.Options.AnyChain = true
		if err := (&builder{Plan: p}).checkChain(tx, 100); err != nil {
			t.Error("with -walletrejectlongchains=0:", err)
		}
	}
}

// Where the pool limits clusters, its limits of relatives refuse nothing.
func TestCheckCluster(t *testing.T) {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: chainhash.Hash{30}}, nil, nil))
	p := &Plan{Options: DefaultOptions(), Pool: messages.PoolClusters{
		MaxAncestors: 25, MaxDescendants: 25, MaxAncestorVSize: 101, MaxDescVSize: 101,
		MaxCluster: 64, MaxClusterVSize: 101_000,
	}}
	for n := range byte(31) {
		one := messages.ClusterTx{ID: chainhash.Hash{n}, VSize: 100}
		if n > 0 {
			one.Depends = []chainhash.Hash{{n - 1}}
		}
		p.Pool.Txs = append(p.Pool.Txs, one)
	}
	if err := (&builder{Plan: p}).checkChain(tx, 100); err != nil {
		t.Error("32nd of a chain:", err)
	}
	p.Pool.MaxCluster = 0
	if err := (&builder{Plan: p}).checkChain(tx, 100); err == nil {
		t.Error("32nd of a chain is built where 25 are allowed")
	}
}
