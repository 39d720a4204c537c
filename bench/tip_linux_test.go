package bench

import (
	"bufio"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/synth"
	"github.com/seed61375155/trawl/store/blockfile"
)

const (
	// tipFrom is the height of the chain to which blocks are added one by one.
	tipFrom = 200

	// tipBlocks are added while the processor time is measured, and as many again while reads are counted.
	tipBlocks = 20
)

// BenchmarkTip measures what a new block of 2,600 transactions costs a node. The node has all indexes and two wallets,
// and publishes raw blocks and transactions. Measured are its processor time until indexes and wallets have the block,
// and how often files of blocks and of undo data are read, which strace counts. OLDER names another trawld, BITCOIND a
// bitcoind that does the same, in turn.
func BenchmarkTip(b *testing.B) {
	own := buildDaemon(b)
	chain := func(blocks int) string {
		c := importedChain{"spends", blocks, synth.Spending{Seed: 1, Blocks: blocks, Txs: 2600}}
		return c.file(b)
	}
	base, news := chain(tipFrom), rawBlocks(b, chain(tipFrom+2*tipBlocks))[tipFrom:]
	figures := map[string][]float64{}
	for b.Loop() {
		inTurnWithOlder(b, own, func(prefix, binary string) {
			d := startDaemon(b, binary, b.TempDir(), "-txindex", "-coinstatsindex", "-maxtipage=9999999999",
				"-zmqpubrawblock=tcp://127.0.0.1:"+freePort(b), "-zmqpubrawtx=tcp://127.0.0.1:"+freePort(b),
				"-loadblock="+base)
			d.waitHeight(b, tipFrom)
			d.waitIndexes(b, tipFrom, 3)
			for _, name := range []string{"one", "two"} {
				d.must(b, nil, "createwallet", name)
			}
			before, _ := processUse(d.program.Process.Pid)
			d.takeBlocks(b, tipFrom, news[:tipBlocks])
			after, _ := processUse(d.program.Process.Pid)
			note := func(name string, value float64) { figures[prefix+name] = append(figures[prefix+name], value) }
			note("cpu-ms/block", milliseconds(after-before)/tipBlocks)
			trace := startTrace(b, d.program.Process.Pid)
			d.takeBlocks(b, tipFrom+tipBlocks, news[tipBlocks:])
			blocks, undo := trace.end(b)
			note("reads/block", float64(blocks)/tipBlocks)
			note("undo-reads/block", float64(undo)/tipBlocks)
			d.stopped(b)
		})
	}
	for _, rival := range []string{"older", "core"} {
		if list := figures[rival+"-cpu-ms/block"]; len(list) > 0 {
			figures["x-cpu-"+rival] = []float64{median(list) / median(figures["cpu-ms/block"])}
		}
	}
	reportFigures(b, figures)
}

// inTurnWithOlder runs measure for trawld, for the trawld that OLDER names, and for Core, as far as they are named.
func inTurnWithOlder(b *testing.B, own string, measure func(prefix, binary string)) {
	b.Helper()
	if older := os.Getenv("OLDER"); older != "" {
		measure("older-", older)
	}
	inTurn(b, own, measure)
}

// rawBlocks returns the blocks of a file, as hex.
func rawBlocks(b *testing.B, path string) (blocks []string) {
	b.Helper()
	network, err := dialect.Bitcoin("regtest")
	if err != nil {
		b.Fatal(err)
	}
	for record, err := range blockfile.ScanFile(path, network.Magic, network.MaxBlockSize) {
		if err != nil {
			b.Fatal(err)
		}
		blocks = append(blocks, hex.EncodeToString(record.Block))
	}
	return blocks
}

// takeBlocks hands in blocks one by one, each when indexes and both wallets have the one before.
func (d *daemon) takeBlocks(b *testing.B, height int, blocks []string) {
	b.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for _, block := range blocks {
		var refused *string
		d.must(b, &refused, "submitblock", block)
		if refused != nil {
			b.Fatalf("block %d is refused: %s", height+1, *refused)
		}
		height++
		d.waitIndexes(b, height, 3)
		for _, name := range []string{"one", "two"} {
			for d.walletHeight(b, name) < height {
				<-ticker.C
			}
		}
	}
}

// walletHeight returns the height up to which a wallet has seen the chain.
func (d *daemon) walletHeight(b *testing.B, name string) int {
	b.Helper()
	var info struct {
		Last struct{ Height int } `json:"lastprocessedblock"`
	}
	if err := d.CallWallet(b.Context(), name, &info, "getwalletinfo"); err != nil {
		b.Fatal(err)
	}
	return info.Last.Height
}

// A trace is strace's list of what a process reads.
type trace struct {
	program *exec.Cmd
	path    string
}

// startTrace returns when strace has begun.
func startTrace(b *testing.B, pid int) *trace {
	b.Helper()
	t := &trace{path: filepath.Join(b.TempDir(), "reads")}
	t.program = exec.Command("strace", "-f", "-y", "-e", "trace=read,pread64,preadv",
		"-o", t.path, "-p", strconv.Itoa(pid))
	told, err := t.program.StderrPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := t.program.Start(); err != nil {
		b.Fatalf("strace, which counts reads: %v", err)
	}
	if line, err := bufio.NewReader(told).ReadString('\n'); err != nil || !strings.Contains(line, "attached") {
		b.Fatalf("strace: %q, %v", line, err)
	}
	return t
}

// end returns how often files of blocks, and of undo data, were read.
func (t *trace) end(b *testing.B) (blocks, undo int) {
	b.Helper()
	if err := t.program.Process.Signal(os.Interrupt); err != nil {
		b.Fatal(err)
	}
	_ = t.program.Wait() // it ends by the signal
	text, err := os.ReadFile(t.path)
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.Contains(line, "/blocks/blk"):
			blocks++
		case strings.Contains(line, "/blocks/rev"):
			undo++
		}
	}
	return blocks, undo
}
