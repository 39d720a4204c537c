package rawtxrpc_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/method/rawtxrpc"
)

// The reader gives the same transaction as getrawtransaction: of the active chain alone, and as
// an object without the chain's other facts.
func TestReader(t *testing.T) {
	x := new(lagging)
	var deps rawtxrpc.Deps
	var chain *chaintest.Chain
	table := rig(t, "regtest", false, func(d *rawtxrpc.Deps) {
		chain = chaintest.New(d.Network.Params)
		d.Chain.Set(chain)
		d.Txs = x
		deps = *d
	})
	root := chain.MineN(1)
	stale := chain.MineOn(root, chaintest.Template{})
	active := chain.MineOn(root, chaintest.Template{Script: []byte{0x52}})
	chain.MineOn(active, chaintest.Template{})
	read := rawtxrpc.Reader(deps)

	id := coinbaseOf(t, chain, active).TxHash()
	x.present = active.Hash
	raw, err := read.Tx(&id)
	want, _ := call(t, table, "getrawtransaction", parse(t, fmt.Sprintf(`[%q]`, id)))
	if err != nil || `"`+hex.EncodeToString(raw)+`"` != want {
		t.Errorf("%x, %v, want %s", raw, err, want)
	}
	text, err := read.TxText(&id)
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := call(t, table, "getrawtransaction", parse(t, fmt.Sprintf(`[%q,1]`, id)))
	shown := jsontree.NewObject()
	for key, member := range parse(t, whole).Members() {
		switch key {
		case "confirmations", "time", "blocktime", "blockhash":
		case "hex":
			shown.Add("blockhash", jsontree.NewString(active.Hash.String()))
			shown.Add(key, member)
		default:
			shown.Add(key, member)
		}
	}
	if string(text) != shown.String() {
		t.Errorf("%s, want %s", text, shown)
	}

	for name, test := range map[string]struct{ id, block chainhash.Hash }{
		"of a branch that was left": {coinbaseOf(t, chain, stale).TxHash(), stale.Hash},
		"unknown":                   {chainhash.Hash{1}, chainhash.Hash{}},
		"of the first block":        {deps.Network.Params.GenesisBlock.Header.MerkleRoot, chain.Active().At(0).Hash},
	} {
		x.present = test.block
		raw, rawErr := read.Tx(&test.id)
		text, textErr := read.TxText(&test.id)
		if raw != nil || text != nil || rawErr != nil || textErr != nil {
			t.Errorf("%s: %x %s, %v, %v", name, raw, text, rawErr, textErr)
		}
	}
	x.present = active.Hash
	other := chainhash.Hash{2}
	if _, err := read.Tx(&other); err == nil || !strings.Contains(err.Error(), "No such transaction found in the provided block") {
		t.Errorf("one that its block does not have: %v", err)
	}
}
