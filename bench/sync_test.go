package bench

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
	"github.com/seed61375155/trawl/messages"
)

// BenchmarkSync asks how long it takes to download and validate the first 14,131
// blocks of the main chain from one peer on this machine, scripts included, from an
// empty data directory. BTCD names a btcd to do the same from the same peer, in
// turn.
func BenchmarkSync(b *testing.B) {
	src := startSource(b)
	var own, btcd, core []time.Duration
	for b.Loop() {
		own = append(own, syncNode(b, src))
		if binary := os.Getenv("BTCD"); binary != "" {
			btcd = append(btcd, syncBtcd(b, src, binary))
		}
		if binary := os.Getenv("BITCOIND"); binary != "" {
			core = append(core, syncCore(b, src, binary))
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(milliseconds(median(own)), "ms")
	b.ReportMetric(float64(src.tip())/median(own).Seconds(), "blocks/s")
	if len(btcd) > 0 {
		b.ReportMetric(milliseconds(median(btcd)), "btcd-ms")
		b.ReportMetric(ratio(median(btcd), median(own)), "x-btcd")
	}
	if len(core) > 0 {
		b.ReportMetric(milliseconds(median(core)), "core-ms")
		b.ReportMetric(ratio(median(core), median(own)), "x-core")
	}
}

// syncNode syncs a node in this process.
func syncNode(b *testing.B, src *source) time.Duration {
	b.Helper()
	height := int32(src.tip())
	began := time.Now()
	n, err := trawl.Open(b.Context(), trawl.Config{
		Dir: b.TempDir(), Chain: "main", MinimumChainWork: "00",
		Peers: &trawl.PeerConfig{Connect: []string{src.Addr().String()}},
	})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := trawl.Ask(b.Context(), n.Chain(), messages.WaitTip{Height: &height}); err != nil {
		b.Fatal(err)
	}
	took := time.Since(began)
	if err := n.Close(context.Background()); err != nil {
		b.Error(err)
	}
	return took
}

// syncBtcd syncs a btcd process, which validates all scripts as well.
func syncBtcd(b *testing.B, src *source, binary string) time.Duration {
	b.Helper()
	port, dir := freePort(b), b.TempDir()
	return syncProcess(b, src, port, exec.Command(binary,
		"--datadir="+dir, "--logdir="+filepath.Join(dir, "log"), "--configfile="+filepath.Join(dir, "none"),
		"--rpcuser=bench", "--rpcpass=bench", "--rpclisten=127.0.0.1:"+port, "--notls", "--nolisten", "--nodnsseed",
		"--nocheckpoints", "--connect="+src.Addr().String()))
}

// syncCore syncs a bitcoind process, which is told to validate all scripts.
func syncCore(b *testing.B, src *source, binary string) time.Duration {
	b.Helper()
	port := freePort(b)
	return syncProcess(b, src, port, exec.Command(binary,
		"-datadir="+b.TempDir(), "-rpcport="+port, "-rpcuser=bench", "-rpcpassword=bench", "-listen=0", "-dnsseed=0",
		"-fixedseeds=0", "-printtoconsole=0", "-minimumchainwork=0", "-assumevalid=0", "-connect="+src.Addr().String()))
}

// syncProcess times a process from its start to its last block.
func syncProcess(b *testing.B, src *source, port string, program *exec.Cmd) time.Duration {
	b.Helper()
	program.Stderr = os.Stderr
	began := time.Now()
	if err := program.Start(); err != nil {
		b.Fatal(err)
	}
	p := &peer{Client: jsonrpc.New("127.0.0.1:"+port, login)}
	defer p.end(b, program)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for height := 0; height < src.tip(); <-ticker.C {
		if time.Since(began) > loadPatience {
			b.Fatalf("%s does not sync", program.Path)
		}
		_ = p.Call(b.Context(), &height, "getblockcount") // it may not answer yet
	}
	return time.Since(began)
}
