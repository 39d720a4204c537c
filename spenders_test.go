package trawl_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/messages"
)

// spending is a node that keeps the index of spenders, and makes blocks with given transactions.
type spending struct {
	*trawl.Node
	t *testing.T
}

func openSpending(t *testing.T, cfg trawl.Config) *spending {
	t.Helper()
	n := &spending{open(t, cfg), t}
	table, err := n.Methods(trawl.Host{})
	if err != nil {
		t.Fatal(err)
	}
	waitForIndexes(t, table)
	return n
}

func (n *spending) call(result any, method string, params ...any) error {
	n.t.Helper()
	answer, err := n.Call(n.t.Context(), method, params)
	if err == nil && result != nil {
		err = json.Unmarshal(answer, result)
	}
	return err
}

// coinbase returns the output of a block's first transaction.
func (n *spending) coinbase(block chainhash.Hash) wire.OutPoint {
	n.t.Helper()
	var shown struct{ Tx []string }
	if err := n.call(&shown, "getblock", block.String()); err != nil {
		n.t.Fatal(err)
	}
	id, err := chainhash.NewHashFromStr(shown.Tx[0])
	if err != nil {
		n.t.Fatal(err)
	}
	return wire.OutPoint{Hash: *id}
}

// spendTwo returns a transaction that spends an output whose script is OP_2, and pays to such a script.
func spendTwo(from wire.OutPoint, value int64) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&from, nil, nil))
	tx.AddTxOut(wire.NewTxOut(value, []byte{0x52}))
	return tx
}

// mine makes a block with transactions.
func (n *spending) mine(txs ...*wire.MsgTx) chainhash.Hash {
	n.t.Helper()
	order := messages.GenerateBlock{Script: []byte{0x52}, Tries: 1 << 20, Submit: true}
	for _, tx := range txs {
		order.Txs = append(order.Txs, serialized(n.t, tx))
	}
	made, err := trawl.Ask(n.t.Context(), n.Chain(), order)
	if err != nil {
		n.t.Fatal(err)
	}
	return made.Hash
}

// wants checks what has spent an output: by in a block, nil: nothing has. The zero block is the pool.
func (n *spending) wants(what string, out wire.OutPoint, by *wire.MsgTx, in chainhash.Hash) {
	n.t.Helper()
	given := fmt.Sprintf(`{"txid":"%v","vout":%d`, out.Hash, out.Index)
	want := given
	if by != nil {
		want += fmt.Sprintf(`,"spendingtxid":"%v","spendingtx":"%s"`, by.TxHash(), hex.EncodeToString(serialized(n.t, by)))
	}
	if in != (chainhash.Hash{}) {
		want += fmt.Sprintf(`,"blockhash":"%v"`, in)
	}
	var got json.RawMessage
	outs, options := json.RawMessage("["+given+"}]"), map[string]bool{"return_spending_tx": true}
	err := n.call(&got, "gettxspendingprevout", outs, options)
	if err != nil || string(got) != "["+want+"}]" {
		n.t.Errorf("%s: %s, %v\nwant [%s}]", what, got, err, want)
	}
}

// Spends of the chain are told over reorganisations, restarts and rebuilds. As in Core, spends of a block that
// was taken back are told until another block comes in its place.
func TestTxoSpenders(t *testing.T) {
	cfg := regtest(t.TempDir())
	cfg.BlockFilterIndex, cfg.TxoSpenderIndex = false, true
	n := openSpending(t, cfg)
	blocks := generate(t, n.Node, []byte{0x52}, 110)
	coin := n.coinbase(blocks[0])
	first := spendTwo(coin, 5_000_000_000)
	second := spendTwo(wire.OutPoint{Hash: first.TxHash()}, 4_999_000_000)
	middle := wire.OutPoint{Hash: first.TxHash()}
	n.wants("not spent", coin, nil, chainhash.Hash{})
	both := n.mine(first, second)
	n.wants("spent", coin, first, both)
	n.wants("spent in the same block", middle, second, both)
	n.wants("not spent yet", wire.OutPoint{Hash: second.TxHash()}, nil, chainhash.Hash{})
	n.wants("never there", wire.OutPoint{Hash: coin.Hash, Index: 1}, nil, chainhash.Hash{})

	invalidate := func(block chainhash.Hash) {
		t.Helper()
		if err := n.call(nil, "invalidateblock", block.String()); err != nil {
			t.Fatal(err)
		}
	}
	invalidate(both)
	n.wants("taken back", coin, first, both)
	n.wants("taken back, too", middle, second, both)
	other := spendTwo(coin, 4_998_000_000)
	replaced := n.mine(other)
	n.wants("spent on another branch", coin, other, replaced)
	n.wants("not there any more", middle, nil, chainhash.Hash{})
	invalidate(replaced)
	n.wants("taken back as well", coin, other, replaced)
	n.wants("still not there", middle, nil, chainhash.Hash{})
	if err := n.call(nil, "reconsiderblock", both.String()); err != nil {
		t.Fatal(err)
	}
	n.mine()
	check := func(what string) {
		t.Helper()
		n.wants(what, coin, first, both)
		n.wants(what, middle, second, both)
	}
	check("back again")
	shut(t, n.Node)
	n = openSpending(t, cfg)
	check("after a restart")
	shut(t, n.Node)
	cfg.Reindex = true
	n = openSpending(t, cfg)
	if _, err := trawl.Ask(t.Context(), n.Chain(), messages.WaitImported{}); err != nil {
		t.Fatal(err)
	}
	check("after a rebuild")
	shut(t, n.Node)
	cfg.Reindex, cfg.TxoSpenderIndex = false, false
	n = &spending{open(t, cfg), t}
	n.wants("without the index", coin, nil, chainhash.Hash{})
}

// A pool with the spender is asked before the index.
func TestPoolBeforeSpenders(t *testing.T) {
	cfg := regtest(t.TempDir())
	cfg.TxoSpenderIndex, cfg.Mempool.AcceptNonStandard = true, true
	n := openSpending(t, cfg)
	coin := n.coinbase(generate(t, n.Node, []byte{0x52}, 110)[0])
	first, other := spendTwo(coin, 4_999_000_000), spendTwo(coin, 4_990_000_000)
	for _, tx := range []*wire.MsgTx{first, other} {
		tx.AddTxOut(wire.NewTxOut(1000, []byte{0x52})) // so that the pool does not find it too small
	}
	in := n.mine(first)
	n.wants("in a block", coin, first, in)
	if err := n.call(nil, "invalidateblock", in.String()); err != nil {
		t.Fatal(err)
	}
	n.wants("back in the pool", coin, first, chainhash.Hash{})
	other.TxIn[0].Sequence = 1
	if _, err := trawl.Ask(t.Context(), n.Mempool(), messages.SubmitTx{Tx: other}); err != nil {
		t.Fatal(err)
	}
	n.wants("replaced", coin, other, chainhash.Hash{})
	n.wants("confirmed", coin, other, n.mine(other))
}

// A damaged index is built anew while the node lives; it never denies a spend of the chain meanwhile.
func TestDamagedSpenders(t *testing.T) {
	cfg := regtest(t.TempDir())
	cfg.BlockFilterIndex, cfg.TxoSpenderIndex = false, true
	n := openSpending(t, cfg)
	coins := generate(t, n.Node, []byte{0x52}, 110)
	var last *wire.MsgTx
	in := map[wire.OutPoint]chainhash.Hash{}
	by := map[wire.OutPoint]*wire.MsgTx{}
	out := n.coinbase(coins[0])
	for i := range 60 {
		var txs []*wire.MsgTx
		var outs []wire.OutPoint
		for j := range 20 {
			last = spendTwo(out, 5_000_000_000-int64(i*20+j)*1000)
			txs, outs = append(txs, last), append(outs, out)
			by[out], out = last, wire.OutPoint{Hash: last.TxHash()}
		}
		block := n.mine(txs...)
		for _, o := range outs {
			in[o] = block
		}
	}
	shut(t, n.Node)
	for range 2 { // goleveldb makes a table of its journal when it is opened
		shut(t, openSpending(t, cfg).Node)
	}
	harm(t, filepath.Join(cfg.Dir, "indexes", "txospenderindex", "*.ldb"))
	var log lockedLog
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	n = openSpending(t, cfg)
	for o, tx := range by {
		for err := errors.New("first"); err != nil; {
			var got []struct{ SpendingTxID, BlockHash string }
			err = n.call(&got, "gettxspendingprevout", []any{map[string]any{"txid": o.Hash.String(), "vout": o.Index}})
			switch {
			case err != nil && !strings.Contains(err.Error(), "txospenderindex is unavailable"):
				t.Fatal(err)
			case err == nil && (got[0].SpendingTxID != tx.TxHash().String() || got[0].BlockHash != in[o].String()):
				t.Fatalf("%v: %+v", o, got)
			}
		}
	}
	const text = "building it anew from all blocks\" category=index index=txospenderindex"
	if !strings.Contains(log.String(), text) {
		t.Errorf("the log lacks %q:\n%s", text, log.String())
	}
}

// A spender that the disk has lost is an error, and nothing else is.
func TestLostSpender(t *testing.T) {
	cfg := regtest(t.TempDir())
	cfg.BlockFilterIndex, cfg.TxoSpenderIndex, cfg.NoBlocksXOR = false, true, true
	n := openSpending(t, cfg)
	blocks := generate(t, n.Node, []byte{0x52}, 110)
	lost, kept := n.coinbase(blocks[0]), n.coinbase(blocks[1])
	bad, good := spendTwo(lost, 4_999_000_000), spendTwo(kept, 4_999_000_000)
	n.mine(bad)
	in := n.mine(good)
	n.wants("lost", lost, bad, n.mined(bad))
	shut(t, n.Node)
	paths, err := filepath.Glob(filepath.Join(cfg.Dir, "blocks", "blk*.dat"))
	if err != nil {
		t.Fatal(err)
	}
	harmed := 0
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if at := bytes.Index(raw, serialized(t, bad)); at >= 0 {
			raw[at+len(serialized(t, bad))-6] ^= 1
			harmed++
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if harmed != 1 {
		t.Fatalf("%d files have the transaction", harmed)
	}
	n = openSpending(t, cfg)
	n.wants("kept", kept, good, in)
	err = n.call(nil, "gettxspendingprevout", []any{map[string]any{"txid": lost.Hash.String(), "vout": 0}})
	want := fmt.Sprintf("IO error finding spending tx for outpoint %v:0.", lost.Hash)
	if told, ok := errors.AsType[trawl.CallError](err); !ok || told.Code != -1 || told.Message != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// mined returns the block of the active chain with a transaction, which is the second one in it.
func (n *spending) mined(tx *wire.MsgTx) chainhash.Hash {
	n.t.Helper()
	var height int
	if err := n.call(&height, "getblockcount"); err != nil {
		n.t.Fatal(err)
	}
	for ; height > 0; height-- {
		var hash string
		var block struct{ Tx []string }
		if err := errors.Join(n.call(&hash, "getblockhash", height), n.call(&block, "getblock", hash)); err != nil {
			n.t.Fatal(err)
		}
		if len(block.Tx) > 1 && block.Tx[1] == tx.TxHash().String() {
			id, err := chainhash.NewHashFromStr(hash)
			if err != nil {
				n.t.Fatal(err)
			}
			return *id
		}
	}
	n.t.Fatal("not mined")
	return chainhash.Hash{}
}
