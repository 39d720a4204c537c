package bench

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
	"github.com/seed61375155/trawl/internal/synth"
)

// A daemon is a program with Core's options that runs.
type daemon struct {
	*peer
	program *exec.Cmd
	addr    string
	began   time.Time
}

// startDaemon starts a program over a data directory, and does not wait until the
// program is ready.
func startDaemon(b *testing.B, binary, dir string, more ...string) *daemon {
	b.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.Fatal(err)
	}
	port := freePort(b)
	args := append([]string{
		"-regtest", "-datadir=" + dir, "-rpcport=" + port, "-rpcuser=bench", "-rpcpassword=bench",
		"-blockfilterindex=1", "-listen=0", "-connect=0", "-dnsseed=0", "-printtoconsole=0",
	}, more...)
	if filepath.Base(binary) == "bitcoind" {
		args = append(args, "-checkblockindex=0", "-checkmempool=0") // slow checks that are on in a regtest
	}
	d := &daemon{program: exec.Command(binary, args...), addr: net.JoinHostPort("127.0.0.1", port), began: time.Now()}
	if err := d.program.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = d.program.Process.Kill() })
	d.peer = &peer{Client: jsonrpc.New(d.addr, login)}
	return d
}

// waitHeight waits until calls are answered and the chain has so many blocks, the filter
// index too, and returns how long that took from the start.
func (d *daemon) waitHeight(b *testing.B, blocks int) time.Duration {
	b.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		var height int
		err := d.Call(b.Context(), &height, "getblockcount")
		if err == nil && height >= blocks && (blocks == 0 || d.indexHeight(b) >= blocks) {
			return time.Since(d.began)
		}
		if <-ticker.C; time.Since(d.began) > loadPatience {
			b.Fatalf("%s does not reach height %d", d.program.Path, blocks)
		}
	}
}

// stopped stops the program and returns how long it took.
func (d *daemon) stopped(b *testing.B) time.Duration {
	b.Helper()
	began := time.Now()
	d.end(b, d.program)
	return time.Since(began)
}

// memory returns what is resident of a program, in megabytes: all of it, and without the
// pages of files, which the system takes back when it needs them.
func (d *daemon) memory() (all, own float64) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.program.Process.Pid))
	read := func(name string) float64 {
		var kib int64
		if _, line, ok := strings.Cut(string(status), name+":"); ok {
			_, _ = fmt.Sscan(line, &kib)
		}
		return float64(kib<<10) / 1e6
	}
	return read("VmRSS"), read("RssAnon")
}

// inTurn runs measure for trawld and, where BITCOIND names one, for Bitcoin Core.
func inTurn(b *testing.B, own string, measure func(prefix, binary string)) {
	b.Helper()
	measure("", own)
	if core := os.Getenv("BITCOIND"); core != "" {
		measure("core-", core)
	}
}

// atRest is when a node that was started has done what comes after a start.
const atRest = 15 * time.Second

// BenchmarkMemory measures how much memory a node takes, with the default cache and the
// filter index. It measures on an empty regtest, at most while the node reads a chain,
// and one and five minutes after reading. BITCOIND names a bitcoind that does the same,
// in turn.
func BenchmarkMemory(b *testing.B) {
	own := buildDaemon(b)
	for _, chain := range importedChains()[:2] {
		b.Run("chain="+chain.name, func(b *testing.B) {
			path := chain.file(b)
			figures := map[string][]float64{}
			note := func(name string, mb float64) { figures[name] = append(figures[name], mb) }
			for b.Loop() {
				inTurn(b, own, func(prefix, binary string) {
					d := startDaemon(b, binary, b.TempDir())
					d.waitHeight(b, 0)
					time.Sleep(atRest)
					all, _ := d.memory()
					note(prefix+"rest-MB", all)
					d.stopped(b)

					d = startDaemon(b, binary, b.TempDir(), "-loadblock="+path)
					d.waitHeight(b, chain.blocks)
					_, peak := processUse(d.program.Process.Pid)
					note(prefix+"peak-MB", float64(peak)/1e6)
					time.Sleep(time.Minute)
					all, _ = d.memory()
					note(prefix+"minute-MB", all)
					time.Sleep(4 * time.Minute)
					all, _ = d.memory()
					note(prefix+"five-minutes-MB", all)
					d.stopped(b)
				})
			}
			reportFigures(b, figures)
		})
	}
}

// reportFigures reports the median of each.
func reportFigures(b *testing.B, figures map[string][]float64) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	for name, list := range figures {
		b.ReportMetric(median(list), name)
	}
	reportLoad(b)
}

// manyBlocks is a chain as long as the main chain.
const manyBlocks = 900_000

// BenchmarkMany asks what a chain as long as the main chain costs by its length alone:
// 900,000 blocks of one output. It measures how long a node takes to start, until it
// answers and has its chain and index, to stop, and to start after kill -9. It also
// measures the memory at rest, of which own-MB is without pages of files. BITCOIND names
// a bitcoind that does the same, in turn. The data directories stay in the folder data.
func BenchmarkMany(b *testing.B) {
	own := buildDaemon(b)
	chain := importedChain{"many", manyBlocks, synth.Chain{
		Seed: 1, Blocks: manyBlocks, Outputs: 1, Interval: 8 * time.Minute, // so that the last is not of the future
	}}
	figures := map[string][]float64{}
	for b.Loop() {
		inTurn(b, own, func(prefix, binary string) {
			note := func(name string, value float64) {
				figures[prefix+name] = append(figures[prefix+name], value)
			}
			dir := filepath.Join(*flagData, prefix+"many")
			if _, err := os.Stat(filepath.Join(dir, "loaded")); err != nil {
				progress("loading %d blocks into %s", manyBlocks, dir)
				d := startDaemon(b, binary, dir, "-loadblock="+chain.file(b))
				d.waitHeight(b, manyBlocks)
				d.stopped(b)
				if err := os.WriteFile(filepath.Join(dir, "loaded"), nil, 0o600); err != nil {
					b.Fatal(err)
				}
			}
			d := startDaemon(b, binary, dir)
			note("start-ms", milliseconds(d.waitHeight(b, manyBlocks)))
			time.Sleep(atRest)
			all, anon := d.memory()
			note("rest-MB", all)
			note("own-MB", anon)
			note("stop-ms", milliseconds(d.stopped(b)))

			d = startDaemon(b, binary, dir)
			d.waitHeight(b, manyBlocks)
			_ = d.program.Process.Kill()
			_ = d.program.Wait()
			d.Close()
			d = startDaemon(b, binary, dir)
			note("after-kill-ms", milliseconds(d.waitHeight(b, manyBlocks)))
			d.stopped(b)
		})
	}
	reportFigures(b, figures)
}
