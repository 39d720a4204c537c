package bench

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/synth"
)

var flagCoins = flag.Int("coins", 2_000_000, "coins of the set of BenchmarkAged")

// agedStep is how many blocks, of some 1 MB each, are made and read at a time while the
// set is loaded. It bounds the blocks on the disk.
const agedStep = 1000

func agedChain() *synth.Aged {
	c := &synth.Aged{Seed: 1, Base: 101, Txs: 1400, Outputs: 20, Spends: 2600}
	for c.Coins() < *flagCoins {
		c.Base++
	}
	return c
}

// An agedRun is what it took to connect blocks that spend old coins.
type agedRun struct {
	importRun

	read, written int64 // bytes on the disk
	calls, blocks []time.Duration
}

// BenchmarkAged measures blocks that spend coins of any age out of a large set, which
// does not fit into the cache. The set has -coins coins; the main chain has 165,000,000.
// The nodes prune and have no index. The set is made once, and stays in the folder data;
// each round continues after the last block of the round before. The pages of the
// directory are dropped before. A call of getblockcount every 5 ms tells how long a
// caller waits, and how long the chain stands still. BITCOIND names a bitcoind that does
// the same, in turn.
func BenchmarkAged(b *testing.B) {
	own := buildDaemon(b)
	figures := map[string][]float64{}
	for b.Loop() {
		inTurn(b, own, func(prefix, binary string) {
			chain := agedChain()
			dir, err := filepath.Abs(filepath.Join(*flagData, fmt.Sprintf("%saged-%d", prefix, *flagCoins)))
			if err != nil {
				b.Fatal(err)
			}
			height := loadAged(b, binary, dir, chain)
			blocks := 200
			if *flagChains == "long" {
				blocks = 1200
			}
			progress("%d blocks that spend old coins, from height %d on", blocks, height)
			drop(b, dir)
			run := agedImport(b, binary, dir, chain, height, height+blocks)
			note := func(name string, value float64) { figures[prefix+name] = append(figures[prefix+name], value) }
			note("block-ms", milliseconds(run.wall)/float64(blocks))
			note("block-cpu-ms", milliseconds(run.cpu)/float64(blocks))
			note("block-read-kB", float64(run.read)/1e3/float64(blocks))
			note("block-written-kB", float64(run.written)/1e3/float64(blocks))
			note("peak-MB", float64(run.peak)/1e6)
			note("stop-ms", milliseconds(run.stop))
			slices.Sort(run.calls)
			slices.Sort(run.blocks)
			note("call-p99-ms", milliseconds(quantile(run.calls, 0.99)))
			note("call-max-ms", milliseconds(quantile(run.calls, 1)))
			note("still-p99-ms", milliseconds(quantile(run.blocks, 0.99)))
			note("still-max-ms", milliseconds(quantile(run.blocks, 1)))
		})
	}
	reportFigures(b, figures)
	if core := figures["core-block-ms"]; len(core) > 0 {
		b.ReportMetric(median(core)/median(figures["block-ms"]), "x-core")
	}
	b.ReportMetric(float64(agedChain().Coins())/1e6, "Mcoins")
}

// loadAged has a program make the set in its directory, unless it is there, and returns
// the height of its chain.
func loadAged(b *testing.B, binary, dir string, chain *synth.Aged) (height int) {
	b.Helper()
	for {
		d := startDaemon(b, binary, dir, agedArgs...)
		height = d.waitBlocks(b, 0)
		d.stopped(b)
		if height >= chain.Base {
			return height
		}
		to := min(height+agedStep, chain.Base)
		progress("%s: the set up to height %d of %d", filepath.Base(binary), to, chain.Base)
		agedImport(b, binary, dir, chain, height, to, agedLoad...)
	}
}

var agedArgs = []string{"-blockfilterindex=0", "-prune=550"}

// agedLoad makes the set in memory and writes it once. This is not measured: with the
// default cache bitcoind takes hours.
var agedLoad = []string{"-dbcache=8000"}

// agedImport makes the blocks after a height in a file, and times their import.
func agedImport(b *testing.B, binary, dir string, chain *synth.Aged, from, to int, more ...string) (r agedRun) {
	b.Helper()
	d := startDaemon(b, binary, dir, agedArgs...)
	d.waitBlocks(b, from)
	var best chainhash.Hash
	if err := d.Call(b.Context(), &best, "getbestblockhash"); err != nil {
		b.Fatal(err)
	}
	d.stopped(b)
	path := filepath.Join(b.TempDir(), "blocks.dat")
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(file, 1<<20)
	_, err = chain.WriteBlocks(w, best, from+1, to)
	if err := errors.Join(err, w.Flush(), file.Close()); err != nil {
		b.Fatal(err)
	}
	d = startDaemon(b, binary, dir, append(append(more, agedArgs...), "-loadblock="+path)...)
	d.waitBlocks(b, from)
	began := time.Now()
	r.calls, r.blocks = d.watchBlocks(b, from, to)
	r.wall = time.Since(began)
	r.cpu, r.peak = processUse(d.program.Process.Pid)
	r.read, r.written = d.diskUse()
	r.stop = d.stopped(b)
	if err := os.Remove(path); err != nil {
		b.Fatal(err)
	}
	return r
}

// waitBlocks waits until calls are answered and the chain has so many blocks.
func (d *daemon) waitBlocks(b *testing.B, blocks int) (height int) {
	b.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for d.Call(b.Context(), &height, "getblockcount") != nil || height < blocks {
		if <-ticker.C; time.Since(d.began) > loadPatience {
			b.Fatalf("%s does not reach height %d", d.program.Path, blocks)
		}
	}
	return height
}

// watchBlocks asks for the height until it is reached, and returns how long the calls
// took, and how long each height lasted.
func (d *daemon) watchBlocks(b *testing.B, from, to int) (calls, blocks []time.Duration) {
	b.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	at, since := from, time.Now()
	for at < to {
		<-ticker.C
		var height int
		asked := time.Now()
		if err := d.Call(b.Context(), &height, "getblockcount"); err != nil {
			b.Fatal(err)
		}
		now := time.Now()
		calls = append(calls, now.Sub(asked))
		if height > at {
			blocks = append(blocks, now.Sub(since)/time.Duration(height-at))
			at, since = height, now
		}
		if time.Since(d.began) > loadPatience {
			b.Fatalf("%s does not reach height %d", d.program.Path, to)
		}
	}
	return calls, blocks
}

// diskUse returns how many bytes a program has read from the disk and written to the disk.
func (d *daemon) diskUse() (read, written int64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/io", d.program.Process.Pid))
	for line := range strings.Lines(string(text)) {
		_, _ = fmt.Sscanf(line, "read_bytes: %d", &read)
		_, _ = fmt.Sscanf(line, "write_bytes: %d", &written)
	}
	return read, written
}
