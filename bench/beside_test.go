package bench

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/synth"
)

// BenchmarkIndexCost measures how much longer the import of a chain takes with the filter
// index than without, in turn: index-ms and plain-ms. The time is from the start until
// the chain, and the index if there is one, has the last block.
func BenchmarkIndexCost(b *testing.B) {
	own := buildDaemon(b)
	for _, chain := range importedChains()[:2] {
		b.Run("chain="+chain.name, func(b *testing.B) {
			args := []string{"-loadblock=" + chain.file(b)}
			var with, without, cpu, plainCPU []time.Duration
			for b.Loop() {
				d := startDaemon(b, own, b.TempDir(), args...)
				with = append(with, d.waitHeight(b, chain.blocks))
				used, _ := processUse(d.program.Process.Pid)
				cpu = append(cpu, used)
				d.stopped(b)

				d = startDaemon(b, own, b.TempDir(), append(args, "-blockfilterindex=0")...)
				d.waitBlocks(b, chain.blocks)
				without = append(without, time.Since(d.began))
				used, _ = processUse(d.program.Process.Pid)
				plainCPU = append(plainCPU, used)
				d.stopped(b)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(milliseconds(median(with)), "index-ms")
			b.ReportMetric(milliseconds(median(without)), "plain-ms")
			b.ReportMetric(ratio(median(with), median(without)), "of-plain")
			b.ReportMetric(milliseconds(median(cpu)), "index-cpu-ms")
			b.ReportMetric(milliseconds(median(plainCPU)), "plain-cpu-ms")
			reportLoad(b)
		})
	}
}

// BenchmarkBeside measures how long scans of 3,000 blocks of 2,000 outputs take while
// the node reads further blocks (beside-ms). It compares the same scans of a node
// that does nothing else (ms). The scans find only the planted scripts.
func BenchmarkBeside(b *testing.B) {
	own := buildDaemon(b)
	const blocks, more = 3000, 3000
	chain := synth.Chain{Seed: 1, Blocks: blocks, Outputs: 2000}
	first := importedChain{"outputs", blocks, chain}
	chain.Blocks += more
	all := importedChain{"outputs", blocks + more, chain}
	dir := b.TempDir()
	d := startDaemon(b, own, dir, "-loadblock="+first.file(b))
	d.waitHeight(b, blocks)
	d.stopped(b)
	for _, k := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			objects := raw(chain.Queries(k))
			scan := func() time.Duration {
				began := time.Now()
				d.must(b, nil, "scanblocks", "start", objects, 0, blocks)
				return time.Since(began)
			}
			var alone, beside []time.Duration
			for b.Loop() {
				d = startDaemon(b, own, dir)
				d.waitHeight(b, blocks)
				scan() // from the disk, perhaps
				for range 10 {
					alone = append(alone, scan())
				}
				d.stopped(b)
				copied := b.TempDir()
				if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
					b.Fatal(err)
				}
				d = startDaemon(b, own, copied, "-loadblock="+all.file(b))
				for d.waitBlocks(b, blocks+1); d.waitBlocks(b, 0) < blocks+more*9/10; {
					beside = append(beside, scan())
				}
				d.stopped(b)
			}
			slices.Sort(beside)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(milliseconds(median(alone)), "ms")
			b.ReportMetric(milliseconds(median(beside)), "beside-ms")
			b.ReportMetric(milliseconds(quantile(beside, 0.9)), "beside-p90-ms")
			b.ReportMetric(ratio(median(beside), median(alone)), "of-alone")
			reportLoad(b)
		})
	}
}
