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
