package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

// BenchmarkDownload measures the download of a chain from a single peer on this machine,
// with the filter index and the default cache. The peer is trawld or the bitcoind that
// BITCOIND names. Measured in turn are the import of the same chain from a file, and that
// bitcoind's download from the same peer.
func BenchmarkDownload(b *testing.B) {
	own, core := buildDaemon(b), os.Getenv("BITCOIND")
	for _, chain := range importedChains() {
		for _, giver := range []struct{ name, binary string }{{"trawld", own}, {"core", core}} {
			if giver.binary == "" {
				continue
			}
			b.Run("chain="+chain.name+"/peer="+giver.name, func(b *testing.B) {
				path := chain.file(b)
				from := "-connect=" + startGiver(b, giver.binary, path, chain.blocks)
				var runs, imports, coreRuns []importRun
				for b.Loop() {
					imports = append(imports, importProcess(b, own, chain.blocks, "-connect=0", "-loadblock="+path))
					runs = append(runs, importProcess(b, own, chain.blocks, from))
					if core != "" {
						coreRuns = append(coreRuns, importProcess(b, core, chain.blocks, from))
					}
				}
				reportImports(b, chain.blocks, runs, coreRuns)
				b.ReportMetric(milliseconds(medianRun(imports).wall), "import-ms")
				b.ReportMetric(ratio(medianRun(imports).wall, medianRun(runs).wall), "of-import")
			})
		}
	}
}

// startGiver starts a program that has a chain, and returns the address at which it gives
// its blocks.
func startGiver(b *testing.B, binary, path string, blocks int) (addr string) {
	b.Helper()
	port, rpcPort := freePort(b), freePort(b)
	addr = "127.0.0.1:" + port
	args := []string{
		"-regtest", "-datadir=" + b.TempDir(), "-rpcport=" + rpcPort, "-rpcuser=bench", "-rpcpassword=bench", "-bind=" + addr,
		"-listen=1", "-connect=0", "-dnsseed=0", "-printtoconsole=0", "-loadblock=" + path,
	}
	if filepath.Base(binary) == "bitcoind" {
		args = append(args, "-checkblockindex=0", "-checkmempool=0") // slow checks that are on in a regtest
	}
	program := exec.Command(binary, args...)
	began := time.Now()
	if err := program.Start(); err != nil {
		b.Fatal(err)
	}
	p := &peer{Client: jsonrpc.New("127.0.0.1:"+rpcPort, login)}
	b.Cleanup(func() { p.end(b, program) })
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for height := 0; height < blocks; <-ticker.C {
		if time.Since(began) > loadPatience {
			b.Fatalf("%s does not import %s", binary, path)
		}
		_ = p.Call(b.Context(), &height, "getblockcount") // it may not answer yet
	}
	return addr
}
