package bench

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A coinSetCall is a way to ask for the sums over all unspent outputs.
type coinSetCall struct {
	hash  string
	index bool // the sums may be taken from their index
}

var coinSetCalls = []coinSetCall{
	{"none", false}, {"hash_serialized_3", false}, {"muhash", false}, {"none", true}, {"muhash", true},
}

// BenchmarkCoinSet measures gettxoutsetinfo over the outputs of the first of the chains
// to import, with each kind of hash, and from the index of its sums. Meanwhile it
// measures getblockcount, of one caller at a time. BITCOIND names a bitcoind that answers
// the same calls, in turn; the answers are compared. The data directories stay in the
// folder data.
func BenchmarkCoinSet(b *testing.B) {
	own := buildDaemon(b)
	chain := importedChains()[0]
	for _, call := range coinSetCalls {
		b.Run(fmt.Sprintf("hash=%s/index=%v", call.hash, call.index), func(b *testing.B) {
			figures, answers := map[string][]float64{}, map[string]string{}
			for b.Loop() {
				inTurn(b, own, func(prefix, binary string) {
					d := coinSetNode(b, binary, prefix, &chain)
					took, counts, outputs := d.sumCoins(b, call, answers)
					_, peak := processUse(d.program.Process.Pid)
					d.stopped(b)
					for name, value := range map[string]float64{
						"ms":           milliseconds(took),
						"count-p99-ms": milliseconds(quantile(counts, 0.99)),
						"peak-MB":      float64(peak) / 1e6,
					} {
						figures[prefix+name] = append(figures[prefix+name], value)
					}
					if prefix == "" {
						figures["Mcoins"] = append(figures["Mcoins"], float64(outputs)/1e6)
					}
				})
			}
			reportFigures(b, figures)
			if rival := figures["core-ms"]; len(rival) > 0 {
				b.ReportMetric(median(rival)/median(figures["ms"]), "x-core")
			}
		})
	}
}

// coinSetNode starts a program over a chain with the index of sums.
func coinSetNode(b *testing.B, binary, prefix string, chain *importedChain) *daemon {
	b.Helper()
	const index = "-coinstatsindex=1"
	dir := loadedDir(b, binary, prefix+"coinset-"+chain.name, chain, nil, index)
	d := startDaemon(b, binary, dir, index)
	d.waitHeight(b, chain.blocks)
	d.waitIndexes(b, chain.blocks, 2)
	return d
}

// sumCoins makes a call and returns how long it took, how long the calls made meanwhile
// took, in order of size, and how many outputs there are. The answer must equal the
// earlier answers.
func (d *daemon) sumCoins(
	b *testing.B, call coinSetCall, answers map[string]string,
) (took time.Duration, counts []time.Duration, outputs int64) {
	b.Helper()
	var ended atomic.Bool
	var group sync.WaitGroup
	group.Go(func() {
		for !ended.Load() {
			began := time.Now()
			d.must(b, nil, "getblockcount")
			counts = append(counts, time.Since(began))
			time.Sleep(time.Millisecond)
		}
	})
	began := time.Now()
	var info map[string]any
	d.must(b, &info, "gettxoutsetinfo", call.hash, nil, call.index)
	took = time.Since(began)
	ended.Store(true)
	group.Wait()
	count, _ := info["txouts"].(float64)
	delete(info, "disk_size")
	text, err := json.Marshal(info)
	if err != nil {
		b.Fatal(err)
	}
	if first, known := answers[call.hash]; known && first != string(text) {
		b.Errorf("%s says %s, another one %s", d.program.Path, text, first)
	}
	answers[call.hash] = string(text)
	slices.Sort(counts)
	return took, counts, int64(count)
}
