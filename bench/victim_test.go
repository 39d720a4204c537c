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
	traffic "github.com/seed61375155/trawl/internal/load"
)

// A victim is a node in a process of its own, so that what attacks it costs it
// nothing that it does not do itself.
type victim struct {
	peer
	addr string // host:port
	pid  int
}

// trawld builds the daemon and returns its path.
func trawld(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "trawld")
	if out, err := goBuild(path, "./cmd/trawld"); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	return path
}

// victims returns the paths of the programs to attack: the daemon and, where
// BITCOIND names one, its rival.
func victims(tb testing.TB) map[string]string {
	tb.Helper()
	paths := map[string]string{"trawl": trawld(tb)}
	if core := os.Getenv("BITCOIND"); core != "" {
		paths["core"] = core
	}
	return paths
}

// newVictim starts a program with Core's options on an empty chain.
func newVictim(tb testing.TB, binary string) *victim {
	tb.Helper()
	return startVictim(tb, binary, tb.TempDir())
}

// startVictim starts a program with Core's options on a data directory.
func startVictim(tb testing.TB, binary, dir string, args ...string) *victim {
	tb.Helper()
	port := freePort(tb)
	program := exec.Command(binary, append([]string{
		"-regtest", "-datadir=" + dir, "-rpcport=" + port,
		"-rpcuser=bench", "-rpcpassword=bench", "-listen=0", "-connect=0", "-printtoconsole=0",
	}, args...)...)
	program.Stderr = os.Stderr
	if err := program.Start(); err != nil {
		tb.Fatal(err)
	}
	v := &victim{addr: net.JoinHostPort("127.0.0.1", port), pid: program.Process.Pid}
	v.Client = jsonrpc.New(v.addr, login)
	v.stop = func() { // a victim may be too busy to be asked
		v.Close()
		_ = program.Process.Kill()
		_ = program.Wait()
	}
	v.waitStarted(tb)
	tb.Cleanup(v.stop)
	return v
}

// peakMemory returns the most bytes that the program has had in memory since
// it started or since [victim.resetPeak], 0 where the system does not tell.
func (v *victim) peakMemory() (bytes float64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	if _, err := fmt.Sscan(rest, &bytes); err != nil {
		return 0
	}
	return bytes * 1024
}

// resetPeak makes the peak that of now, where the system can.
func (v *victim) resetPeak() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", v.pid), []byte("5"), 0o600)
}

// calls returns a run of callers on the victim, at a rate or as fast as they
// can. Its preparation is done.
func (v *victim) calls(tb testing.TB, mix string, callers int, rate float64, d time.Duration) *traffic.Run {
	tb.Helper()
	m, err := traffic.ParseMix(mix)
	if err != nil {
		tb.Fatal(err)
	}
	r, err := traffic.Prepare(tb.Context(), traffic.Config{
		Addr: v.addr, Login: login, Timeout: patience, Callers: callers, Rate: rate, Duration: d, Mix: m, Seed: 1,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// finish makes the calls.
func finish(tb testing.TB, r *traffic.Run) *traffic.Result {
	tb.Helper()
	result, err := r.Go(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	return result
}

// refused returns how many calls had no result.
func refused(r *traffic.Result) (n uint64) {
	for _, row := range r.Rows {
		if row.Outcome != "" && row.Outcome != "ok" {
			n += row.Times.Count()
		}
	}
	return n
}
