package bench

import (
	"testing"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/messages"
)

// BenchmarkLoad imports the chain's block file into an empty data directory,
// up to the clean stop of the node, without and with the filter index.
func BenchmarkLoad(b *testing.B) {
	path := blockFile(b)
	for _, run := range []struct {
		name  string
		index bool
	}{{"index=off", false}, {"index=on", true}} {
		b.Run(run.name, func(b *testing.B) {
			for b.Loop() {
				loadChain(b, trawl.Config{
					Dir: b.TempDir(), Chain: "regtest", LoadBlock: []string{path}, BlockFilterIndex: run.index,
				})
			}
			perLoad := b.Elapsed().Seconds() / float64(b.N)
			b.ReportMetric(1000*perLoad, "ms")
			b.ReportMetric(float64(*flagBlocks)/perLoad, "blocks/s")
			reportLoad(b)
		})
	}
}

func loadChain(b *testing.B, cfg trawl.Config) {
	b.Helper()
	n, err := trawl.Open(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := n.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}()
	if _, err := trawl.Ask(b.Context(), n.Chain(), messages.WaitImported{}); err != nil {
		b.Fatal(err)
	}
	tip, err := trawl.Ask(b.Context(), n.Chain(), messages.GetTip{})
	if err != nil || int(tip.Height) != *flagBlocks {
		b.Fatalf("tip at height %d, %v; want %d", tip.Height, err, *flagBlocks)
	}
	if cfg.BlockFilterIndex {
		if _, err := trawl.Ask(b.Context(), n.Indexer(), messages.WaitIndexed{Block: tip.Hash}); err != nil {
			b.Fatal(err)
		}
	}
}
