package trawl_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/messages"
)

// historyOf returns the history of a script, and what it adds up to, once the index has all blocks.
func (n *spending) historyOf(script []byte) (entries []messages.SearchEntry, balance messages.ScriptBalance) {
	n.t.Helper()
	if _, err := trawl.Ask(n.t.Context(), n.Chain(), messages.WaitImported{}); err != nil {
		n.t.Fatal(err)
	}
	for err := errors.New("first"); err != nil; {
		var page messages.ScriptPage
		page, err = n.Scripts().History(n.t.Context(), messages.GetScriptHistory{Script: script, Limit: 1 << 20})
		if err == nil {
			balance, err = n.Scripts().Balance(n.t.Context(), script)
		}
		if behind := new(messages.ScriptIndexBehindError); err != nil && !errors.As(err, &behind) {
			n.t.Fatal(err)
		}
		if entries = page.Entries; page.More {
			n.t.Fatal("there is more than the limit")
		}
	}
	return entries, balance
}

// Histories of scripts are those of the blocks: over a reorganisation, a restart, damage and a rebuild.
func TestScriptIndex(t *testing.T) {
	cfg := regtest(t.TempDir())
	cfg.BlockFilterIndex, cfg.ScriptIndex = false, true
	n := openSpending(t, cfg)
	blocks := generate(t, n.Node, []byte{0x52}, 110)
	spend := spendTwo(n.coinbase(blocks[0]), 49e8)
	spend.AddTxOut(wire.NewTxOut(1e8, []byte{0x53}))
	spent := n.mine(spend)
	check := func(what string, outputs, spends int, other int64) {
		t.Helper()
		entries, balance := n.historyOf([]byte{0x52})
		if len(entries) != outputs+spends || balance.Outputs != outputs || balance.Spends != spends ||
			balance.Balance != balance.Received-balance.Spent {
			t.Errorf("%s: %d entries, %+v; want %d and %d", what, len(entries), balance, outputs, spends)
		}
		if _, balance := n.historyOf([]byte{0x53}); int64(balance.Balance) != other {
			t.Errorf("%s: other balance %+v, want %d", what, balance, other)
		}
	}
	check("at first", 112, 1, 1e8)
	entries, _ := n.historyOf([]byte{0x52})
	for _, e := range entries {
		if e.Type == messages.SearchSpend && (e.TxID != spend.TxHash() || e.Block != spent || e.Amount != 50e8) {
			t.Errorf("spend %+v", e)
		}
	}
	var info map[string]struct {
		Synced bool
		Height int32 `json:"best_block_height"`
	}
	if err := n.call(&info, "getindexinfo", "scriptindex"); err != nil || !info["scriptindex"].Synced ||
		info["scriptindex"].Height != 111 {
		t.Errorf("getindexinfo: %v, %v", info, err)
	}
	var page struct {
		Entries []json.RawMessage
		More    bool
		Height  int32
	}
	err := n.call(&page, "getscripthistory", "53")
	if err != nil || len(page.Entries) != 1 || page.More || page.Height != 111 {
		t.Errorf("getscripthistory: %+v, %v", page, err)
	}
	if err := n.call(nil, "invalidateblock", spent.String()); err != nil {
		t.Fatal(err)
	}
	check("after the block has left", 110, 0, 0)
	if err := n.call(nil, "reconsiderblock", spent.String()); err != nil {
		t.Fatal(err)
	}
	shut(t, n.Node)
	n = openSpending(t, cfg)
	check("after a restart", 112, 1, 1e8)
	generate(t, n.Node, []byte{0x52}, 150)
	check("further on", 262, 1, 1e8)
	shut(t, n.Node)
	tables, _ := filepath.Glob(filepath.Join(cfg.Dir, "indexes", "scriptindex", "*.tab"))
	for _, path := range tables {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for at := 256; at < len(raw)-24; at++ { // all buckets
			raw[at] ^= 1
		}
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if len(tables) == 0 {
		t.Error("there are no tables")
	}
	n = openSpending(t, cfg)
	check("after damage", 262, 1, 1e8)
	shut(t, n.Node)
	cfg.ReindexState = true
	n = openSpending(t, cfg)
	check("built anew", 262, 1, 1e8)
	shut(t, n.Node)
	cfg.ReindexState, cfg.Prune = false, &trawl.PruneConfig{}
	const refused = "incompatible with -scriptindex"
	if _, err := trawl.Open(small(t.Context()), cfg); err == nil || !strings.Contains(err.Error(), refused) {
		t.Errorf("with pruning: %v", err)
	}
	cfg.Prune, cfg.ScriptIndex = nil, false
	n = &spending{open(t, cfg), t}
	if n.Scripts() != nil {
		t.Error("there is an index that was not asked for")
	}
	if err := n.call(nil, "getscriptbalance", "53"); err == nil || !strings.Contains(err.Error(), "need the script index") {
		t.Errorf("without the index: %v", err)
	}
}
