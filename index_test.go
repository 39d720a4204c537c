package trawl_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// A bad sector in an index that is made from the chain costs only a rebuild of the
// index. Meanwhile the node lives and never denies a transaction of the chain.
func TestDamagedIndexes(t *testing.T) {
	cfg := regtest(t.TempDir())
	cfg.TxIndex, cfg.CoinStatsIndex = true, true
	node := open(t, cfg)
	blocks := generate(t, node, []byte{0x52}, 150)
	var sums []string
	for i := range blocks {
		sums = append(sums, statsOf(t, node, &blocks[i]))
	}
	shut(t, node)
	for range 2 { // goleveldb makes a table of its journal when it is opened
		node = open(t, cfg)
		shut(t, node)
	}
	for _, index := range []string{"txindex", "coinstatsindex"} {
		harm(t, filepath.Join(cfg.Dir, "indexes", index, "*.ldb"))
	}
	var log lockedLog
	cfg.Log = slog.New(slog.NewTextHandler(&log, nil))
	node = open(t, cfg)
	more := generate(t, node, []byte{0x53}, 20)
	for i := range blocks {
		findCoinbase(t, node, &blocks[i])
	}
	for i := range more {
		findCoinbase(t, node, &more[i])
	}
	for i, want := range sums {
		if got := statsOf(t, node, &blocks[i]); got != want {
			t.Errorf("sums at block %d: %s, before %s", i+1, got, want)
		}
	}
	for _, index := range []string{"txindex", "coinstatsindex"} {
		if text := "building it anew from all blocks\" category=index index=" + index; !strings.Contains(log.String(), text) {
			t.Errorf("the log lacks %q:\n%s", text, log.String())
		}
	}
	shut(t, node)
	node = open(t, cfg)
	for i := range blocks {
		findCoinbase(t, node, &blocks[i])
	}
}

// A bad sector in the chain's own metadata makes the node rebuild from the block files
// by itself: at once if the start finds it, otherwise at the next start.
func TestDamagedChainstate(t *testing.T) {
	for _, percent := range []int{30, 55, 80} {
		cfg := regtest(t.TempDir())
		cfg.BlockFilterIndex = false
		node := open(t, cfg)
		blocks := generate(t, node, []byte{0x52}, 150)
		shut(t, node)
		for range 2 {
			node = open(t, cfg)
			shut(t, node)
		}
		harmAt(t, filepath.Join(cfg.Dir, "chainstate", "*.ldb"), percent)
		whole := false
		for range 3 { // starts
			var err error
			if node, err = trawl.Open(small(t.Context()), cfg); err != nil {
				if !strings.Contains(err.Error(), "-reindex-chainstate") {
					t.Errorf("%d %%: %v", percent, err)
				}
				continue
			}
			_, err = trawl.Ask(t.Context(), node.Chain(), messages.WaitImported{})
			table, _ := node.Methods(trawl.Host{})
			var sums struct {
				Height int
				Txouts int
			}
			if err == nil {
				err = call(t, table, &sums, "gettxoutsetinfo")
			}
			for i := range blocks {
				if err == nil {
					err = call(t, table, new(any), "getblock", blocks[i].String(), 2)
				}
			}
			if whole = err == nil; whole && (sums.Height != 150 || sums.Txouts != 150) {
				t.Errorf("%d %%: %+v", percent, sums)
			}
			shut(t, node)
		}
		if !whole {
			t.Errorf("%d %%: the last start still met the damage", percent)
		}
	}
}

// lockedLog is a log that several goroutines write to.
type lockedLog struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// harm overwrites a part of each file that is not small: among the rows, and not what
// is read at the start.
func harm(t *testing.T, pattern string) { t.Helper(); harmAt(t, pattern, 90) }

func harmAt(t *testing.T, pattern string, percent int) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatal("nothing to harm in ", pattern, err)
	}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) < 8<<10 {
			continue
		}
		raw[len(raw)*percent/100] ^= 0xff
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// findCoinbase asks for the first transaction of a block by its id alone. It asks
// again while the answer is that the index is still being made.
func findCoinbase(t *testing.T, node *trawl.Node, block *chainhash.Hash) {
	t.Helper()
	table, err := node.Methods(trawl.Host{})
	if err != nil {
		t.Fatal(err)
	}
	var shown struct{ Tx []string }
	method(t, table, &shown, "getblock", block.String())
	var tx struct{ BlockHash string }
	for err := errors.New("first"); err != nil; {
		waitForIndexes(t, table)
		err = call(t, table, &tx, "getrawtransaction", shown.Tx[0], 1)
		if err != nil && !strings.Contains(err.Error(), "still in the process of being indexed") {
			t.Fatal(err)
		}
	}
	if tx.BlockHash != block.String() {
		t.Errorf("transaction %s is in block %s, want %v", shown.Tx[0], tx.BlockHash, block)
	}
}

// waitForIndexes returns when all indexes say that they are in step with the chain.
func waitForIndexes(t *testing.T, table *command.Table) {
	t.Helper()
	for {
		info := map[string]struct{ Synced bool }{}
		method(t, table, &info, "getindexinfo")
		synced := len(info) > 0
		for _, index := range info {
			synced = synced && index.Synced
		}
		if synced {
			return
		}
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// statsOf returns the sums of the unspent outputs as of a block.
func statsOf(t *testing.T, node *trawl.Node, block *chainhash.Hash) string {
	t.Helper()
	table, err := node.Methods(trawl.Host{})
	if err != nil {
		t.Fatal(err)
	}
	var sums json.RawMessage
	for err := errors.New("first"); err != nil; {
		waitForIndexes(t, table)
		err = call(t, table, &sums, "gettxoutsetinfo", "muhash", block.String())
		if err != nil && !strings.Contains(err.Error(), "Unable to read UTXO set") &&
			!strings.Contains(err.Error(), "still syncing") {
			t.Fatal(err)
		}
	}
	return string(sums)
}
