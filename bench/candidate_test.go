package bench

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/store/blockfile"
)

// BenchmarkCandidate looks into blocks that match by chance, as scanblocks does
// with filter_false_positives. It looks through all their outputs and all outputs
// that they spend; here the scripts of another block stand for spent outputs. The
// unit ns/B is for each byte of blocks and undo data, both in memory.
func BenchmarkCandidate(b *testing.B) {
	var blocks, undos [][]byte
	size := 0
	for block := range theChain().All() {
		var coins []blockfile.Coin
		err := filters.EachOutputScript(block.Raw, filters.HeaderLen, func(script []byte) bool {
			coins = append(coins, blockfile.Coin{Height: 1, Amount: 12_345, Script: script})
			return true
		})
		if err != nil {
			b.Fatal(err)
		}
		blocks = append(blocks, bytes.Clone(block.Raw)) // which the next overwrites
		undos = append(undos, blockfile.AppendUndo(nil, [][]blockfile.Coin{coins}))
		size += len(block.Raw) + len(undos[len(undos)-1])
		if len(blocks) == 50 {
			break
		}
	}
	for _, k := range scriptCounts {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			// Without those that the chain pays to.
			query := filters.NewQuery(theChain().Queries(k + walletPlanted)[walletPlanted:])
			ours := &contender{run: func() error {
				for i, raw := range blocks {
					spent, err := blockfile.SpentScripts(undos[i])
					if err != nil {
						return err
					}
					if found, err := query.InBlock(raw, filters.HeaderLen, spent); err != nil || found {
						return fmt.Errorf("%w: found %v, %w", errWrongAnswer, found, err)
					}
				}
				return nil
			}}
			compete(b, ours)
			b.ReportMetric(float64(ours.median())/float64(size), "ns/B")
		})
	}
}
