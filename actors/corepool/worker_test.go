package corepool

import (
	"context"
	"encoding/hex"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corenode/poolcopy"
)

// Of a cluster as many transactions are told as may be, and of a larger one none; a parent is named once, however
// many of its outputs are spent.
func TestConnected(t *testing.T) {
	chain := func(n int) (list []*poolcopy.Tx, first chainhash.Hash) {
		var at []wire.OutPoint
		for i := range n {
			tx := txOf(int64(i+1), at...)
			id := tx.TxHash()
			raw, _ := hex.DecodeString(rawOf(tx))
			copied, _, err := poolcopy.Parse(raw, &id, poolcopy.Details{Fee: 5, ModifiedFee: 6, VSize: 7})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, copied)
			at = []wire.OutPoint{{Hash: id}, {Hash: id, Index: 1}}
		}
		return list, list[0].ID
	}
	list, first := chain(maxCluster)
	txs, tooMany := connected(list, []chainhash.Hash{first, first, {9}})
	if len(txs) != maxCluster || tooMany {
		t.Fatalf("%d transactions, too many: %v", len(txs), tooMany)
	}
	if last := txs[maxCluster-1]; last.ID != list[maxCluster-1].ID || len(last.Depends) != 1 ||
		last.Depends[0] != list[maxCluster-2].ID || len(last.Spends) != 2 || last.VSize != 7 || last.ModifiedFee != 6 {
		t.Errorf("the last is %+v", last)
	}
	list, first = chain(maxCluster + 1)
	if txs, tooMany := connected(list, []chainhash.Hash{first}); txs != nil || !tooMany {
		t.Errorf("%d transactions, too many: %v", len(txs), tooMany)
	}
}

// Transactions that have left are looked for in the last blocks, down to the block that was seen last, and in no
// more than maxBlocks blocks.
func TestMinedSince(t *testing.T) {
	chain := chaintest.New(&chaincfg.RegressionNetParams)
	chain.MineN(40)
	view := new(chainview.Current)
	if mined, tip := minedSince(t.Context(), view, chainhash.Hash{7}); mined != nil || tip != (chainhash.Hash{7}) {
		t.Errorf("without a chain: %v, %v", mined, tip)
	}
	view.Set(chain)
	active := chain.Active()
	ended, end := context.WithCancel(t.Context())
	end()
	for _, c := range []struct {
		name string
		ctx  context.Context
		seen chainhash.Hash
		want int32
	}{
		{"nothing new", t.Context(), active.At(40).Hash, 0},
		{"a block", t.Context(), active.At(39).Hash, 1},
		{"some", t.Context(), active.At(20).Hash, 20},
		{"as many as may be", t.Context(), active.At(16).Hash, 24},
		{"too many", t.Context(), active.At(15).Hash, 24},
		{"another chain", t.Context(), chainhash.Hash{7}, 24},
		{"the actor ends", ended, chainhash.Hash{7}, 0},
	} {
		mined, tip := minedSince(c.ctx, view, c.seen)
		if int32(len(mined)) != c.want || tip != active.At(40).Hash {
			t.Errorf("%s: transactions of %d blocks, want %d", c.name, len(mined), c.want)
		}
		for h := 40 - c.want + 1; h <= 40; h++ {
			block, err := chain.Block(&active.At(h).Hash)
			if err != nil || !mined[block.Transactions[0].TxHash()] {
				t.Errorf("%s: block %d is missing (%v)", c.name, h, err)
			}
		}
	}
}
