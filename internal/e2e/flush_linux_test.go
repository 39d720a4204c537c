package e2e_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/synth"
)

// coinSum is what the set of unspent outputs is at a height.
type coinSum struct {
	Height int32  `json:"height"`
	Best   string `json:"bestblock"`
	MuHash string `json:"muhash"`
}

// agedBlocks writes blocks that make coins and spend them again, and returns how many.
func agedBlocks(t *testing.T, path string) int32 {
	t.Helper()
	chain := &synth.Aged{Seed: 1, Base: 400, Txs: 250, Outputs: 8, Spends: 400}
	const blocks = 600
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = chain.WriteBlocks(file, *chaincfg.RegressionNetParams.GenesisHash, 1, blocks)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	return blocks
}

// sumsOf returns the sums of every height of a chain that a node reads undisturbed.
func sumsOf(t *testing.T, file string, blocks int32) map[int32]coinSum {
	t.Helper()
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Blocks: []string{file}, Args: []string{"-coinstatsindex=1"}})
	sums := map[int32]coinSum{}
	e2e.Eventually(t, 2*time.Minute, "the sums are there", func() bool {
		var last coinSum
		return d.Call(t.Context(), &last, "gettxoutsetinfo", "muhash", blocks) == nil && last.Height == blocks
	})
	for height := range blocks + 1 {
		var sum coinSum
		d.Get(&sum, "gettxoutsetinfo", "muhash", height)
		sums[height] = sum
	}
	d.Stop()
	return sums
}

// TestPowerLossFlush cuts the power while blocks are read from a file, and while the
// node starts after that. The cache has the least size, so that unspent outputs are
// written most of the time. The set is always the set of some block of the chain, and
// at the end the last block's.
func TestPowerLossFlush(t *testing.T) {
	disk := newDisk(t, 1024)
	file := filepath.Join(t.TempDir(), "blocks.dat")
	blocks := agedBlocks(t, file)
	sums := sumsOf(t, file, blocks)
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 6))
	upTo := func(limit time.Duration) time.Duration { return time.Duration(random.Int64N(int64(limit))) }
	d := e2e.Start(t, e2e.Config{
		Chain: "regtest", Dir: disk.folder("data"), Blocks: []string{file}, Args: []string{"-dbcache=4"},
	})
	lose := func() { disk.losePower(d) }
	for cuts := count(t, "TRAWL_SOAK", 4) / 2; cuts >= 0; cuts-- {
		<-time.After(upTo(1200 * time.Millisecond))
		lose()
		for random.IntN(2) == 0 {
			cuts--
			d.EndStarting(upTo(500*time.Millisecond), lose, file)
		}
		d.Restart(file)
		var sum coinSum
		d.Get(&sum, "gettxoutsetinfo", "muhash")
		if sum != sums[sum.Height] {
			t.Fatalf("the set is %+v, want %+v", sum, sums[sum.Height])
		}
		t.Logf("at height %d", sum.Height)
		if sum.Height == blocks { // from the start again
			d.Stop()
			if err := os.RemoveAll(d.NetDir); err != nil {
				t.Fatal(err)
			}
			d.Restart(file)
		}
	}
	e2e.Eventually(t, 2*time.Minute, "all blocks are read", func() bool {
		var height int32
		d.Get(&height, "getblockcount")
		return height == blocks
	})
	var sum coinSum
	if d.Get(&sum, "gettxoutsetinfo", "muhash"); sum != sums[blocks] {
		t.Errorf("the set is %+v at the end, want %+v", sum, sums[blocks])
	}
	d.Stop()
}
