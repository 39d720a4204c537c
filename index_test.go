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
	"github.com/seed61375155/trawl/rpc/command"
)

// A bad sector in an index that is made from the chain costs no more than the making:
// the node lives, never denies what is in the chain, and has the index again.
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

// harm overwrites a part of each file that is not small.
func harm(t *testing.T, pattern string) {
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
		raw[len(raw)*9/10] ^= 0xff // among the rows, and not what is read at the start
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// findCoinbase asks for the first transaction of a block by its id alone. While the
// index is made it may be told that this is so.
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
