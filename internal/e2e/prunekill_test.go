package e2e_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// chainInfo is what getblockchaininfo tells of pruning.
type chainInfo struct {
	Blocks      int32 `json:"blocks"`
	Pruned      bool  `json:"pruned"`
	PruneHeight int32 `json:"pruneheight"`
}

// TestKill9WhilePruning kills a node at random moments while it mines and deletes
// blocks. It has to start again with all that it has acknowledged. The deleted
// blocks are a run from the first on, and the rest can be read. Filters of all
// blocks are there, and the unspent outputs are the chain's.
func TestKill9WhilePruning(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0)) // the moments differ anyway
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-blockfilterindex=1", "-prune=1", "-fastprune=1"}})
	const address = "bcrt1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqdku202"
	d.Get(nil, "generatetoaddress", 700, address)
	for range count(t, "TRAWL_SOAK", 5) {
		var before chainInfo
		d.Get(&before, "getblockchaininfo")
		pause := time.Duration(20+random.IntN(400)) * time.Millisecond
		ended := make(chan int32, 1)
		call := d.Call // of the process that is to be killed
		go func() {    // until then
			at := before.Blocks
			for {
				var mined []string
				if call(context.Background(), &mined, "generatetoaddress", 1+random.IntN(60), address) != nil {
					break
				}
				at += int32(len(mined))
				if call(context.Background(), nil, "pruneblockchain", at-300) != nil {
					break
				}
			}
			ended <- at
		}()
		<-time.After(pause)
		d.Kill()
		acknowledged := <-ended
		d.Restart()
		checkPruned(t, d, before.PruneHeight, acknowledged)
	}
	d.Stop()
}

// checkPruned checks a node whose chain pays one address in every block.
func checkPruned(t *testing.T, d *e2e.Daemon, prunedBefore, acknowledged int32) {
	t.Helper()
	var after chainInfo
	d.Get(&after, "getblockchaininfo")
	if !after.Pruned || after.Blocks < acknowledged || after.PruneHeight < prunedBefore {
		t.Fatalf("came up with %+v after %d blocks, of which %d were pruned", after, acknowledged, prunedBefore)
	}
	for height := int32(1); height <= after.Blocks; height += 1 + after.Blocks/100 {
		checkBlock(t, d, height, height < after.PruneHeight)
	}
	for _, height := range []int32{after.PruneHeight - 1, after.PruneHeight, after.Blocks} {
		height = max(height, 1) // nothing may be pruned yet
		checkBlock(t, d, height, height < after.PruneHeight)
	}
	var coins struct {
		Outputs int32 `json:"txouts"`
		Height  int32 `json:"height"`
	}
	d.Get(&coins, "gettxoutsetinfo", "none")
	if coins.Outputs != after.Blocks || coins.Height != after.Blocks {
		t.Errorf("%+v at height %d", coins, after.Blocks)
	}
	var files []string
	for _, pattern := range []string{"blk*.dat", "rev*.dat"} {
		found, err := filepath.Glob(filepath.Join(d.Dir, "regtest", "blocks", pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if most := int(after.Blocks-after.PruneHeight)/100 + 8; len(files) > most {
		t.Errorf("%d files for %d blocks", len(files), after.Blocks-after.PruneHeight)
	}
}

func checkBlock(t *testing.T, d *e2e.Daemon, height int32, pruned bool) {
	t.Helper()
	var hash string
	d.Get(&hash, "getblockhash", height)
	d.Get(nil, "getblockheader", hash)
	e2e.Eventually(t, 10*time.Second, "the filter is there", func() bool {
		return d.Call(t.Context(), nil, "getblockfilter", hash) == nil
	})
	if err := d.Call(t.Context(), nil, "getblock", hash); (err != nil) != pruned {
		t.Errorf("height %d, pruned %v: %v", height, pruned, err)
	}
}
