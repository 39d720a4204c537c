package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

// BenchmarkSync asks how long it takes to download and validate the first 14,131
// blocks of the main chain from one peer on this machine, scripts included, from an
// empty data directory. BTCD names a btcd, and BITCOIND a bitcoind, to do the same
// from the same peer, in turn. The processor time is that until the process has
// stopped.
func BenchmarkSync(b *testing.B) {
	src := startSource(b)
	nodes := []struct {
		prefix, binary string
		args           func(dir, rpcPort, source string) []string
		runs           []syncRun
	}{
		{prefix: "", binary: buildDaemon(b), args: coreSyncArgs},
		{prefix: "btcd-", binary: os.Getenv("BTCD"), args: btcdSyncArgs},
		{prefix: "core-", binary: os.Getenv("BITCOIND"), args: coreSyncArgs},
	}
	for b.Loop() {
		for i := range nodes {
			if n := &nodes[i]; n.binary != "" {
				port := freePort(b)
				n.runs = append(n.runs, syncProcess(
					b, src, port, exec.Command(n.binary, n.args(b.TempDir(), port, src.Addr().String())...),
				))
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	own := nodes[0].runs
	b.ReportMetric(float64(src.tip())/median(wallTimes(own)).Seconds(), "blocks/s")
	for _, n := range nodes {
		if len(n.runs) == 0 {
			continue
		}
		b.ReportMetric(milliseconds(median(wallTimes(n.runs))), n.prefix+"ms")
		b.ReportMetric(milliseconds(median(cpuTimes(n.runs))), n.prefix+"cpu-ms")
		if n.prefix != "" {
			name := strings.TrimSuffix(n.prefix, "-")
			b.ReportMetric(ratio(median(wallTimes(n.runs)), median(wallTimes(own))), "x-"+name)
			b.ReportMetric(ratio(median(cpuTimes(n.runs)), median(cpuTimes(own))), "x-cpu-"+name)
		}
	}
}

// A syncRun is what one sync took.
type syncRun struct{ wall, cpu time.Duration }

func wallTimes(runs []syncRun) (list []time.Duration) {
	for _, r := range runs {
		list = append(list, r.wall)
	}
	return list
}

func cpuTimes(runs []syncRun) (list []time.Duration) {
	for _, r := range runs {
		list = append(list, r.cpu)
	}
	return list
}

// goBuild builds a program of the node's module.
func goBuild(path, folder string) (output []byte, err error) {
	build := exec.Command("go", "build", "-o", path, folder)
	build.Dir = ".."
	return build.CombinedOutput()
}

// buildDaemon builds trawld.
func buildDaemon(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "trawld")
	if out, err := goBuild(path, "./cmd/trawld"); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return path
}

// coreSyncArgs tell a node with Core's options to validate all scripts of whatever
// chain it finds.
func coreSyncArgs(dir, rpcPort, source string) []string {
	return []string{
		"-datadir=" + dir, "-rpcport=" + rpcPort, "-rpcuser=bench", "-rpcpassword=bench", "-listen=0", "-dnsseed=0",
		"-fixedseeds=0", "-printtoconsole=0", "-minimumchainwork=0", "-assumevalid=0", "-connect=" + source,
	}
}

// btcdSyncArgs do the same for btcd.
func btcdSyncArgs(dir, rpcPort, source string) []string {
	return []string{
		"--datadir=" + dir, "--logdir=" + filepath.Join(dir, "log"), "--configfile=" + filepath.Join(dir, "none"),
		"--rpcuser=bench", "--rpcpass=bench", "--rpclisten=127.0.0.1:" + rpcPort, "--notls", "--nolisten", "--nodnsseed",
		"--nocheckpoints", "--connect=" + source,
	}
}

// syncProcess times a process from its start to its last block.
func syncProcess(b *testing.B, src *source, port string, program *exec.Cmd) syncRun {
	b.Helper()
	began := time.Now()
	if err := program.Start(); err != nil {
		b.Fatal(err)
	}
	p := &peer{Client: jsonrpc.New("127.0.0.1:"+port, login)}
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for height := 0; height < src.tip(); <-ticker.C {
		if time.Since(began) > loadPatience {
			_ = program.Process.Kill()
			b.Fatalf("%s does not sync", program.Path)
		}
		_ = p.Call(b.Context(), &height, "getblockcount") // it may not answer yet
	}
	wall := time.Since(began)
	p.end(b, program)
	return syncRun{wall, program.ProcessState.UserTime() + program.ProcessState.SystemTime()}
}
