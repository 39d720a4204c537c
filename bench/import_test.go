package bench

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
	"github.com/seed61375155/trawl/internal/synth"
)

var flagChains = flag.String("chains", "short", "chains to import: short, or long")

// An importedChain is a chain that nodes read from a file.
type importedChain struct {
	name   string
	blocks int
	source io.WriterTo
}

// importedChains are blocks of many small outputs, blocks that spend as those of 2025
// do, and blocks whose signatures decide.
func importedChains() []importedChain {
	outputs, spends, signatures := 3000, 400, 160
	if *flagChains == "long" {
		outputs, spends, signatures = 10_000, 1200, 300
	}
	return []importedChain{
		{"outputs", outputs, synth.Chain{Seed: 1, Blocks: outputs, Outputs: 2000}},
		{"spends", spends, synth.Spending{Seed: 1, Blocks: spends, Txs: 2600}},
		{"signatures", signatures, synth.Spending{Seed: 1, Blocks: signatures, Txs: 1000, Signed: true}},
	}
}

// file returns the path of the chain's file, which is written when it is not there.
func (c *importedChain) file(tb testing.TB) string {
	tb.Helper()
	path, err := filepath.Abs(filepath.Join(*flagData, fmt.Sprintf("%s-%d.dat", c.name, c.blocks)))
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		return path
	}
	progress("making %s", path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	file, err := os.Create(path + ".new") // under another name until it is complete
	if err != nil {
		tb.Fatal(err)
	}
	w := bufio.NewWriterSize(file, 1<<20)
	_, err = c.source.WriteTo(w)
	if err := errors.Join(err, w.Flush(), file.Close(), os.Rename(file.Name(), path)); err != nil {
		tb.Fatal(err)
	}
	return path
}

// An importRun is what the import of a chain took.
type importRun struct {
	wall, cpu, stop time.Duration
	peak            int64 // bytes of memory
}

// BenchmarkImport measures reading a chain from a file, with the filter index, until the
// index has the last block. It runs with the default cache and with a cache of 4 GB. All
// scripts are executed. BITCOIND names a bitcoind that does the same, in turn. The
// processor time is of the whole process until then, with its ended threads. The memory
// is the peak of resident memory. The time stop-ms is how long the process took to stop.
func BenchmarkImport(b *testing.B) {
	own, core := buildDaemon(b), os.Getenv("BITCOIND")
	for _, chain := range importedChains() {
		for _, cache := range []string{"default", "4096"} {
			b.Run("chain="+chain.name+"/cache="+cache, func(b *testing.B) {
				path := chain.file(b)
				var runs, coreRuns []importRun
				args := append(cacheArgs(cache), "-connect=0", "-loadblock="+path)
				for b.Loop() {
					runs = append(runs, importProcess(b, own, chain.blocks, args...))
					if core != "" {
						coreRuns = append(coreRuns, importProcess(b, core, chain.blocks, args...))
					}
				}
				reportImports(b, chain.blocks, runs, coreRuns)
			})
		}
	}
}

func reportImports(b *testing.B, blocks int, runs, coreRuns []importRun) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	own := medianRun(runs)
	b.ReportMetric(float64(blocks)/own.wall.Seconds(), "blocks/s")
	for prefix, r := range map[string]importRun{"": own, "core-": medianRun(coreRuns)} {
		if r.wall == 0 {
			continue
		}
		b.ReportMetric(milliseconds(r.wall), prefix+"ms")
		b.ReportMetric(milliseconds(r.cpu), prefix+"cpu-ms")
		b.ReportMetric(milliseconds(r.stop), prefix+"stop-ms")
		b.ReportMetric(float64(r.peak)/1e6, prefix+"peak-MB")
		if prefix != "" {
			b.ReportMetric(ratio(r.wall, own.wall), "x-core")
			b.ReportMetric(ratio(r.cpu, own.cpu), "x-cpu-core")
			b.ReportMetric(float64(own.peak)/float64(r.peak), "peak-of-core's")
		}
	}
	reportLoad(b)
}

// medianRun has the median of each figure.
func medianRun(runs []importRun) (m importRun) {
	if len(runs) == 0 {
		return m
	}
	var wall, cpu, stop, peak []time.Duration
	for _, r := range runs {
		wall, cpu, stop = append(wall, r.wall), append(cpu, r.cpu), append(stop, r.stop)
		peak = append(peak, time.Duration(r.peak))
	}
	return importRun{median(wall), median(cpu), median(stop), int64(median(peak))}
}

// cacheArgs asks for a cache of so many MiB.
func cacheArgs(cache string) []string {
	if cache == "default" {
		return nil
	}
	return []string{"-dbcache=" + cache}
}

// importProcess times a program from its start to the last block in its index. more says
// where the blocks come from.
func importProcess(b *testing.B, binary string, blocks int, more ...string) importRun {
	b.Helper()
	port := freePort(b)
	args := append([]string{
		"-regtest", "-datadir=" + b.TempDir(), "-rpcport=" + port, "-rpcuser=bench", "-rpcpassword=bench",
		"-blockfilterindex=1", "-listen=0", "-dnsseed=0", "-printtoconsole=0",
	}, more...)
	if filepath.Base(binary) == "bitcoind" {
		args = append(args, "-checkblockindex=0", "-checkmempool=0") // slow checks that are on in a regtest
	}
	program := exec.Command(binary, args...)
	began := time.Now()
	if err := program.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = program.Process.Kill() })
	p := &peer{Client: jsonrpc.New("127.0.0.1:"+port, login)}
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for p.indexHeight(b) < blocks {
		if <-ticker.C; time.Since(began) > loadPatience {
			b.Fatalf("%s does not import %v", binary, more)
		}
	}
	r := importRun{wall: time.Since(began)}
	r.cpu, r.peak = processUse(program.Process.Pid)
	began = time.Now()
	p.end(b, program)
	r.stop = time.Since(began)
	r.peak = cmp.Or(r.peak, 1)
	return r
}

// indexHeight returns the height of the filter index of a program that may not answer
// yet, and may be reading blocks still.
func (p *peer) indexHeight(b *testing.B) int {
	b.Helper()
	var info map[string]struct {
		Height int `json:"best_block_height"`
	}
	_ = p.Call(b.Context(), &info, "getindexinfo")
	return info["basic block filter index"].Height
}
