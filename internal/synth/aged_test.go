package synth_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/synth"
)

// TestAged checks that blocks are valid by themselves and follow each other. All
// inputs must spend existing outputs, none twice. Blocks made in several pieces must
// equal blocks made in a single piece.
func TestAged(t *testing.T) {
	params := &chaincfg.RegressionNetParams
	whole, parts := &synth.Aged{Seed: 1, Base: 110, Txs: 3, Outputs: 4, Spends: 5}, bytes.Buffer{}
	var file bytes.Buffer
	last, err := whole.WriteBlocks(&file, *params.GenesisHash, 1, 118)
	if err != nil {
		t.Fatal(err)
	}
	prev := *params.GenesisHash
	for _, piece := range [][2]int{{1, 60}, {61, 105}, {106, 111}, {112, 118}} {
		c := &synth.Aged{Seed: 1, Base: 110, Txs: 3, Outputs: 4, Spends: 5}
		if prev, err = c.WriteBlocks(&parts, prev, piece[0], piece[1]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(file.Bytes(), parts.Bytes()) || prev != last {
		t.Error("in pieces it is another chain")
	}

	prev = *params.GenesisHash
	coins := map[wire.OutPoint]int{}
	for height := 1; file.Len() > 0; height++ {
		head := file.Next(8)
		block, err := btcutil.NewBlockFromBytes(file.Next(int(binary.LittleEndian.Uint32(head[4:]))))
		if err != nil {
			t.Fatalf("height %d: %v", height, err)
		}
		if err := blockchain.CheckBlockSanity(block, params.PowLimit, blockchain.NewMedianTime()); err != nil {
			t.Fatalf("height %d: %v", height, err)
		}
		got, err := blockchain.ExtractCoinbaseHeight(block.Transactions()[0])
		if err != nil || int(got) != height || block.MsgBlock().Header.PrevBlock != prev {
			t.Fatalf("height %d: %d, %v", height, got, err)
		}
		prev = *block.Hash()
		for _, tx := range block.Transactions() {
			for _, in := range tx.MsgTx().TxIn {
				made, ok := coins[in.PreviousOutPoint]
				if !blockchain.IsCoinBaseTx(tx.MsgTx()) && (!ok || height > 110 && made <= 100) {
					t.Fatalf("height %d spends %v, which was made at height %d, if at all", height, in.PreviousOutPoint, made)
				}
				delete(coins, in.PreviousOutPoint)
			}
			for i := range tx.MsgTx().TxOut {
				coins[wire.OutPoint{Hash: *tx.Hash(), Index: uint32(i)}] = height
			}
		}
	}
	// Beside the coins of the set, the coinbases that paid to nothing else are left.
	if want := whole.Coins() + 118 - 10; prev != last || len(coins) != want {
		t.Errorf("%d coins, want %d", len(coins), want)
	}
}
