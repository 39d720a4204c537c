package trawl_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/part"
	"github.com/seed61375155/trawl/messages"
)

// regtest is a node's configuration for a folder.
func regtest(dir string) trawl.Config {
	return trawl.Config{Dir: dir, Chain: "regtest", BlockFilterIndex: true, Cache: 8 << 20}
}

// small has a node keep its blocks in small files.
func small(ctx context.Context) context.Context {
	return part.WithKnobs(ctx, part.Knobs{SmallFiles: true})
}

func open(t *testing.T, cfg trawl.Config) *trawl.Node {
	t.Helper()
	return openWith(t, part.Knobs{SmallFiles: true}, cfg)
}

func openWith(t *testing.T, k part.Knobs, cfg trawl.Config) *trawl.Node {
	t.Helper()
	node, err := trawl.Open(part.WithKnobs(t.Context(), k), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, node) })
	return node
}

// shut closes a node. It may be closed before.
func shut(t *testing.T, node *trawl.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := node.Close(ctx); err != nil {
		t.Error(err)
	}
}

// scan looks for a script in the whole active chain.
func scan(ctx context.Context, node *trawl.Node, script []byte) (messages.ScanResult, error) {
	tip, err := trawl.Ask(ctx, node.Chain(), messages.GetTip{})
	if err != nil {
		return messages.ScanResult{}, err
	}
	slot, err := trawl.Ask(ctx, node.Scanner(), messages.ReserveScan{})
	if err != nil {
		return messages.ScanResult{}, err
	}
	return trawl.Ask(ctx, node.Scanner(), messages.RunScan{
		Slot: slot.ID, Scripts: [][]byte{script}, Stop: tip.Hash, CheckBlocks: true,
	})
}

// generate mines blocks that pay to script.
func generate(t *testing.T, node *trawl.Node, script []byte, n int) []chainhash.Hash {
	t.Helper()
	blocks, err := trawl.Ask(t.Context(), node.Chain(), messages.Generate{Script: script, Count: n, Tries: 1 << 20})
	if err != nil || len(blocks) != n {
		t.Fatalf("mined %d blocks, %v", len(blocks), err)
	}
	return blocks
}

// A reopened node has everything that it had when it was closed.
func TestOpenClose(t *testing.T) {
	cfg := regtest(t.TempDir())
	script := []byte{0x52}
	var mined []chainhash.Hash
	for round := range 3 {
		node := open(t, cfg)
		for _, actor := range []*trawl.Ref{node.Chain(), node.Indexer(), node.Scanner()} {
			if actor == nil {
				t.Fatal("an actor is missing")
			}
		}
		result, err := scan(t.Context(), node, script)
		if err != nil || !slices.Equal(result.Blocks, mined) || !result.Completed {
			t.Errorf("round %d: found %d of %d blocks, %v", round, len(result.Blocks), len(mined), err)
		}
		mined = append(mined, generate(t, node, script, 3)...)
		generate(t, node, []byte{0x51}, 3)
		shut(t, node)
		if _, err := trawl.Ask(t.Context(), node.Chain(), messages.GetTip{}); !errors.Is(err, trawl.ErrStopped) {
			t.Errorf("after Close: %v", err)
		}
	}
	// Files are written below the folder, and where Core has them.
	for _, name := range []string{"blocks/blk00000.dat", "blocks/rev00000.dat", "chainstate", "indexes/blockfilter/basic"} {
		if _, err := os.Stat(filepath.Join(cfg.Dir, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestWithoutIndex(t *testing.T) {
	cfg := regtest(t.TempDir())
	cfg.BlockFilterIndex = false
	node := open(t, cfg)
	if !node.Indexer().IsAbsent() || !node.Scanner().IsAbsent() {
		t.Error("there are actors of an index")
	}
	generate(t, node, []byte{0x51}, 1)
}

func TestReindex(t *testing.T) {
	cfg := regtest(t.TempDir())
	script := []byte{0x52}
	node := open(t, cfg)
	mined := generate(t, node, script, 20)
	shut(t, node)
	cfg.Reindex = true
	node = open(t, cfg)
	if _, err := trawl.Ask(t.Context(), node.Chain(), messages.WaitImported{}); err != nil {
		t.Fatal(err)
	}
	if result, err := scan(t.Context(), node, script); err != nil || !slices.Equal(result.Blocks, mined) {
		t.Errorf("found %d of %d blocks, %v", len(result.Blocks), len(mined), err)
	}
}

func TestOpenRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		cfg  trawl.Config
	}{
		{"no folder", trawl.Config{Chain: "regtest"}},
		{"no chain", trawl.Config{Dir: t.TempDir()}},
		{"unknown chain", trawl.Config{Dir: t.TempDir(), Chain: "doge"}},
		{"a challenge without a signet", trawl.Config{Dir: t.TempDir(), Chain: "main", SignetChallenge: []byte{0x51}}},
		{"a file for a folder", regtest(file)},
	} {
		t.Run(test.name, func(t *testing.T) {
			if node, err := trawl.Open(small(t.Context()), test.cfg); err == nil {
				shut(t, node)
				t.Error("opened")
			}
		})
	}
}

// A folder is used by one node at a time.
func TestOpenTwice(t *testing.T) {
	cfg := regtest(t.TempDir())
	node := open(t, cfg)
	if second, err := trawl.Open(small(t.Context()), cfg); err == nil {
		shut(t, second)
		t.Error("opened twice")
	}
	generate(t, node, []byte{0x51}, 1)
}

// A context that has ended leaves nothing open behind.
func TestOpenCancelled(t *testing.T) {
	cfg := regtest(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if node, err := trawl.Open(ctx, cfg); err == nil {
		shut(t, node) // it was faster
	} else if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	open(t, cfg)
}

func TestWait(t *testing.T) {
	node := open(t, regtest(t.TempDir()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := node.Wait(ctx); err != nil {
		t.Errorf("its context ended: %v", err)
	}
	waited := make(chan error, 1)
	go func() { waited <- node.Wait(t.Context()) }()
	shut(t, node)
	if err := <-waited; err == nil {
		t.Error("closed, and nothing to say")
	}
}

// Two nodes of different chains live in one process, and in one actor system,
// and know nothing of each other, nor of how the other scans.
func TestTwoNodes(t *testing.T) {
	host := actor.NewActorSystem()
	chain := filepath.Join(t.TempDir(), "chain.blk")
	blocks := enginetest.Unzip(t, enginetest.Chain)
	if err := os.WriteFile(chain, blocks[:len(blocks)/3], 0o600); err != nil {
		t.Fatal(err)
	}
	mainnet := filepath.Join(t.TempDir(), "mainnet.blk")
	blocks = enginetest.Unzip(t, "mainnet/mainnet-0-14131.blk.gz")
	if err := os.WriteFile(mainnet, blocks[:len(blocks)/8], 0o600); err != nil {
		t.Fatal(err)
	}
	coinbase := []byte{0x51}
	var group sync.WaitGroup
	for _, test := range []struct {
		chain, file, kernel, layout string
		least                       int32
	}{
		{"regtest", chain, "portable", "plain", 100},
		{"main", mainnet, "", "", 1000},
	} {
		cfg := trawl.Config{
			Dir: t.TempDir(), Chain: test.chain, BlockFilterIndex: true, LoadBlock: []string{test.file},
			System: host, ActorPrefix: test.chain + "/", Cache: 8 << 20,
			FilterLayout: test.layout,
		}
		node := openWith(t, part.Knobs{FilterKernel: test.kernel}, cfg)
		group.Go(func() {
			if _, err := trawl.Ask(t.Context(), node.Chain(), messages.WaitImported{}); err != nil {
				t.Error(err)
				return
			}
			result, err := scan(t.Context(), node, coinbase)
			if err != nil || !result.Completed || result.To < test.least {
				t.Errorf("%s: %+v, %v", test.chain, result, err)
			}
		})
	}
	group.Wait()
}
