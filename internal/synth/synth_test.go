package synth_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/synth"
)

// TestBlocks checks what a node asks of blocks that it has no chain for, over
// heights of one, two and three bytes.
func TestBlocks(t *testing.T) {
	params := &chaincfg.RegressionNetParams
	chain := synth.Chain{Seed: 3, Blocks: 33_000, Outputs: 2}
	prev, height := *params.GenesisHash, int32(0)
	for b := range chain.All() {
		height++
		if height > 300 && height < 32_760 {
			prev = b.Hash
			continue
		}
		block, err := btcutil.NewBlockFromBytes(b.Raw)
		if err != nil {
			t.Fatalf("height %d: %v", height, err)
		}
		if err := blockchain.CheckBlockSanity(block, params.PowLimit, blockchain.NewMedianTime()); err != nil {
			t.Fatalf("height %d: %v", height, err)
		}
		got, err := blockchain.ExtractCoinbaseHeight(block.Transactions()[0])
		if err != nil || got != height || b.Height != int(height) {
			t.Fatalf("height %d, %d in the coinbase (%v), want %d", b.Height, got, err, height)
		}
		if header := block.MsgBlock().Header; header.PrevBlock != prev || header.BlockHash() != b.Hash {
			t.Fatalf("height %d: block %v after %v, want %v after %v", height, header.BlockHash(), header.PrevBlock, b.Hash, prev)
		}
		prev = b.Hash
	}
	if height != 33_000 {
		t.Errorf("%d blocks", height)
	}
}

func TestPlanted(t *testing.T) {
	chain := synth.Chain{Seed: 1, Blocks: 600, Outputs: 9}
	for b := range chain.All() {
		for i, script := range chain.Queries(12) {
			want := synth.Planted(b.Height) == i
			if got := bytes.Contains(b.Raw, script); got != want {
				t.Errorf("height %d: query %d is paid: %v, want %v", b.Height, i, got, want)
			}
		}
	}
	for _, test := range []struct{ height, want int }{{0, -1}, {7, 0}, {57, 1}, {457, 9}, {507, 0}, {508, -1}} {
		if got := synth.Planted(test.height); got != test.want {
			t.Errorf("Planted(%d) = %d, want %d", test.height, got, test.want)
		}
	}
}

// TestSameBytes pins the bytes: measurements of different days are of the same
// chain.
func TestSameBytes(t *testing.T) {
	const want = "3e459ad00c9102b34e70cafce8e3723af435f61dc09ffe625fe006997e3e66d2"
	sum := sha256.New()
	n, err := (synth.Chain{Seed: 1, Blocks: 100, Outputs: 300}).WriteTo(sum)
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		t.Errorf("%d bytes with SHA-256 %s, want %s", n, got, want)
	}
	var last chainhash.Hash
	for b := range (synth.Chain{Seed: 2, Blocks: 1, Outputs: 300}).All() {
		last = b.Hash
	}
	for b := range (synth.Chain{Seed: 1, Blocks: 1, Outputs: 300}).All() {
		if b.Hash == last {
			t.Error("two seeds make the same block")
		}
	}
}
