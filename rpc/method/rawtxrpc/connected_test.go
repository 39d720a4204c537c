package rawtxrpc_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/rpc/method/rawtxrpc"
)

// lagging is an index whose first answer may be of the past.
type lagging struct {
	present, found chainhash.Hash // blocks; zero: none
	asked          int            // by Find
}

func (x *lagging) Present(*chainhash.Hash) (chainhash.Hash, chainview.TxPlace, bool) {
	return x.present, chainview.TxPlace{}, x.present != chainhash.Hash{}
}

func (x *lagging) Find(context.Context, *chainhash.Hash) (chainhash.Hash, chainview.TxPlace, bool, error) {
	x.asked++
	if x.found == (chainhash.Hash{}) {
		return x.found, chainview.Nowhere, true, nil
	}
	return x.found, chainview.TxPlace{}, true, nil
}

// A transaction that the index has in the active chain is answered at once. Else the
// pool is asked, and then the index once it is in step.
func TestGetRawTransactionConnected(t *testing.T) {
	x := new(lagging)
	var chain *chaintest.Chain
	table := rig(t, "regtest", false, func(d *rawtxrpc.Deps) {
		chain = chaintest.New(d.Network.Params)
		d.Chain.Set(chain)
		d.Txs = x
	})
	root := chain.MineN(1)
	stale := chain.MineOn(root, chaintest.Template{})
	active := chain.MineOn(root, chaintest.Template{Script: []byte{0x52}})
	chain.MineOn(active, chaintest.Template{})
	in := func(b *chainview.Block) string { return fmt.Sprintf(`"blockhash":"%v"`, b.Hash) }
	for _, test := range []struct {
		name           string
		of             *chainview.Block // with the transaction
		present, found *chainview.Block
		asked          int
		want           string
	}{
		{"active", active, active, nil, 0, in(active) + `,"confirmations":2,`},
		{"of a branch that was left", stale, stale, stale, 1, in(stale) + `,"confirmations":0`},
		{"not there yet", active, nil, active, 1, in(active) + `,"confirmations":2`},
		{"nowhere", active, nil, nil, 1, `{"code":-5,"message":"No such mempool or blockchain transaction.`},
		{"of an unknown block", active, &chainview.Block{Hash: chainhash.Hash{1}}, active, 1, in(active)},
	} {
		*x = lagging{}
		if test.present != nil {
			x.present = test.present.Hash
		}
		if test.found != nil {
			x.found = test.found.Hash
		}
		id := coinbaseOf(t, chain, test.of).TxHash()
		result, fault := call(t, table, "getrawtransaction", parse(t, fmt.Sprintf(`[%q,1]`, id)))
		if text := result + fault; !strings.Contains(text, test.want) || x.asked != test.asked {
			t.Errorf("%s: asked %d times, got %s", test.name, x.asked, text)
		}
	}
}
