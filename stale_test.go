package trawl_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/messages"
)

// Blocks that are invalidated right after they were connected are in all indexes, as if the
// indexes had seen each tip. The same holds for blocks of a branch that another branch has
// replaced.
func TestStaleBlocksInIndexes(t *testing.T) {
	cfg := regtest(t.TempDir())
	cfg.TxIndex, cfg.CoinStatsIndex = true, true
	node := open(t, cfg)
	call := func(result any, method string, params ...any) {
		t.Helper()
		answer, err := node.Call(t.Context(), method, params)
		if err == nil && result != nil {
			err = json.Unmarshal(answer, result)
		}
		if err != nil {
			t.Errorf("%s %v: %v", method, params, err)
		}
	}
	type states map[string]struct {
		Height int32 `json:"best_block_height"`
		Synced bool
	}
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		var indexes states
		call(&indexes, "getindexinfo")
		synced := 0
		for _, index := range indexes {
			if index.Synced {
				synced++
			}
		}
		if synced == 3 {
			break
		}
	}
	var stale []string
	for round := range 12 {
		script := []byte{4, byte(round), 1, 2, 3} // a push that no other block has
		first := generate(t, node, script, 1+round%3)
		for _, hash := range first {
			stale = append(stale, hash.String())
		}
		if _, err := trawl.Ask(t.Context(), node.Chain(), messages.InvalidateBlock{Hash: first[0]}); err != nil {
			t.Fatal(err)
		}
		if round%2 == 0 {
			generate(t, node, []byte{4, byte(round), 1, 2, 4}, 1)
		}
	}
	type sums struct {
		Height int32
		TxOuts int
	}
	for _, hash := range stale {
		var block struct {
			Tx                []string
			Height            int32
			PreviousBlockHash string
		}
		call(&block, "getblock", hash)
		call(nil, "getblockfilter", hash)
		var tx struct{ BlockHash string }
		if call(&tx, "getrawtransaction", block.Tx[0], 1); tx.BlockHash != hash {
			t.Errorf("transaction of stale block %s is in %s", hash, tx.BlockHash)
		}
		var got sums
		want := sums{block.Height, int(block.Height)} // an output each, but for the genesis block
		if call(&got, "gettxoutsetinfo", "muhash", hash); got != want {
			t.Errorf("sums of stale block %s: %v, want %v", hash, got, want)
		}
	}
	var tip struct {
		Blocks int32
		Best   string `json:"bestblockhash"`
	}
	call(&tip, "getblockchaininfo")
	for height := range tip.Blocks + 1 {
		var hash string
		call(&hash, "getblockhash", height)
		call(nil, "getblockfilter", hash)
		var got sums
		if call(&got, "gettxoutsetinfo", "muhash", hash); got != (sums{height, int(height)}) {
			t.Errorf("sums of block %d: %v", height, got)
		}
	}
	var indexes states
	call(&indexes, "getindexinfo")
	for name, index := range indexes {
		if !index.Synced || index.Height != tip.Blocks {
			t.Errorf("%s: %+v at height %d", name, index, tip.Blocks)
		}
	}
	if len(indexes) != 3 {
		t.Error(fmt.Sprint(indexes))
	}
}
