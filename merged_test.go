package trawl_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// method calls a method of a node, and reads its answer into result.
func method(t *testing.T, table *command.Table, result any, name string, params ...any) {
	t.Helper()
	if err := call(t, table, result, name, params...); err != nil {
		t.Fatal(err)
	}
}

// call is like method, for calls that may fail.
func call(t *testing.T, table *command.Table, result any, name string, params ...any) error {
	t.Helper()
	text, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := jsontree.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	call, err := table.Prepare(command.Caller{}, name, tree)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	got, err := call.Run(t.Context())
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if text, err = jsontree.Append(nil, got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, result); err != nil {
		t.Fatalf("%s: %v in %s", name, err, text)
	}
	return nil
}

// watch makes a wallet that watches a script.
func watch(t *testing.T, table *command.Table, script []byte) {
	t.Helper()
	desc := "raw(" + hex.EncodeToString(script) + ")"
	var info struct{ Descriptor string }
	method(t, table, &info, "getdescriptorinfo", desc)
	method(t, table, new(any), "createwallet", "watch", true, true)
	var imported []struct {
		Success bool
		Error   any
	}
	method(t, table, &imported, "importdescriptors", []any{map[string]any{"desc": info.Descriptor, "timestamp": "now"}})
	if len(imported) != 1 || !imported[0].Success {
		t.Fatalf("not watched: %+v", imported)
	}
}

// serialized returns a transaction as it is sent.
func serialized(t *testing.T, tx *wire.MsgTx) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tx.Serialize(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tipOf returns the best block of a node.
func tipOf(t *testing.T, node *trawl.Node) chainhash.Hash {
	t.Helper()
	tip, err := trawl.Ask(t.Context(), node.Chain(), messages.GetTip{})
	if err != nil {
		t.Fatal(err)
	}
	return tip.Hash
}

// TestMergeMinedBlocks has everything that reads blocks meet one with a payload between
// its header and its transactions: the pool, the indexes, the wallets and the methods.
func TestMergeMinedBlocks(t *testing.T) {
	net, err := dialect.Named(dialect.NameQbit, "regtest", dialect.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	node := open(t, trawl.Config{
		Dir: t.TempDir(), Chain: "regtest", Dialect: "qbit", LoadBlock: []string{fundedChain(t)},
		Mempool: trawl.MempoolConfig{NoPersist: true}, BlockFilterIndex: true, TxIndex: true, CoinStatsIndex: true,
		TxoSpenderIndex: true, ScriptIndex: true,
		Wallets: &trawl.WalletConfig{NoSync: true},
	})
	if _, err := trawl.Ask(t.Context(), node.Chain(), messages.WaitImported{}); err != nil {
		t.Fatal(err)
	}
	table, err := node.Methods(trawl.Host{})
	if err != nil {
		t.Fatal(err)
	}
	spend, next := standardSpends(t)[0], standardSpends(t)[1:]
	paid := spend.TxOut[0]
	watch(t, table, paid.PkScript)
	submit := func(tx *wire.MsgTx) {
		t.Helper()
		if _, err := trawl.Ask(t.Context(), node.Mempool(), messages.SubmitTx{Tx: tx}); err != nil {
			t.Errorf("after block %d: %v", fundingHeight, err)
		}
	}
	submit(spend)
	var hashes []string
	for i := range 4 {
		order := messages.GenerateBlock{Script: paid.PkScript, Tries: 1 << 40}
		if i == 1 {
			order.Txs = [][]byte{serialized(t, spend)}
		}
		made, err := trawl.Ask(t.Context(), node.Chain(), order)
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			made.Raw = chaintest.MergeMine(net, made.Raw)
		}
		if _, err := trawl.Ask(t.Context(), node.Chain(), messages.SubmitBlock{Raw: made.Raw}); err != nil {
			t.Fatalf("block %d: %v", i, err)
		}
		tip, err := trawl.Ask(t.Context(), node.Chain(), messages.GetTip{})
		if err != nil || tip.Height != fundingHeight+1+int32(i) {
			t.Fatalf("at height %d: %v", tip.Height, err)
		}
		hashes = append(hashes, tip.Hash.String())
		submit(next[i])
	}
	merged, id := hashes[1], spend.TxHash().String()

	var ids []string
	if method(t, table, &ids, "getrawmempool"); len(ids) != 4 || strings.Contains(strings.Join(ids, " "), id) {
		t.Errorf("pool: %v", ids)
	}
	var block struct {
		Size, Weight, NTx int
		Tx                []struct {
			TxID string
			Fee  float64
		}
	}
	method(t, table, &block, "getblock", merged, 2)
	var text string
	method(t, table, &text, "getblock", merged, 0)
	if block.NTx != 2 || block.Tx[1].TxID != id || block.Tx[1].Fee == 0 || block.Size != len(text)/2 {
		t.Errorf("block: %+v, %d bytes", block, len(text)/2)
	}
	var stats struct{ Txs, Outs int }
	if method(t, table, &stats, "getblockstats", merged); stats.Txs != 2 {
		t.Errorf("statistics: %+v", stats)
	}
	if _, err := trawl.Ask(t.Context(), node.Indexer(), messages.WaitIndexed{Block: tipOf(t, node)}); err != nil {
		t.Fatal(err)
	}
	found, err := scan(t.Context(), node, paid.PkScript)
	if err != nil || len(found.Blocks) < 4 {
		t.Errorf("scan: %+v, %v", found, err)
	}
	var tx struct{ BlockHash, Hex string }
	for _, args := range [][]any{{id, 1, merged}, {id, 1}} { // read from the block, looked up in the index
		if method(t, table, &tx, "getrawtransaction", args...); tx.BlockHash != merged ||
			tx.Hex != hex.EncodeToString(serialized(t, spend)) {
			t.Errorf("transaction: %+v", tx)
		}
	}
	var spenders []struct{ SpendingTxID, BlockHash string }
	spent := spend.TxIn[0].PreviousOutPoint
	outs := []any{map[string]any{"txid": spent.Hash.String(), "vout": spent.Index}}
	method(t, table, &spenders, "gettxspendingprevout", outs)
	if spenders[0].SpendingTxID != id || spenders[0].BlockHash != merged {
		t.Errorf("spender: %+v", spenders)
	}
	var sums struct{ BestBlock string }
	if method(t, table, &sums, "gettxoutsetinfo", "none", merged); sums.BestBlock != merged {
		t.Errorf("sums of the unspent outputs: %+v", sums)
	}
	var activity struct {
		Activity []struct{ Type, BlockHash string }
	}
	method(t, table, &activity, "getdescriptoractivity", []any{merged}, []any{"raw(" +
		hex.EncodeToString(paid.PkScript) + ")"}, false)
	if len(activity.Activity) != 3 { // the coinbase, what the transaction spends, and what it pays
		t.Errorf("activity: %+v", activity)
	}
	var confirmed struct {
		BlockHash     string
		Confirmations int
	}
	if method(t, table, &confirmed, "gettransaction", id); confirmed.BlockHash != merged ||
		confirmed.Confirmations != 3 {
		t.Errorf("the wallet's transaction: %+v", confirmed)
	}
}
