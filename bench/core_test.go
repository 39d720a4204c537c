package bench

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

// patience is how long another program may take to start or to stop.
const patience = 2 * time.Minute

// core starts the bitcoind that the environment variable BITCOIND names, and
// returns nil when there is none.
func core(tb testing.TB) *peer {
	tb.Helper()
	binary := os.Getenv("BITCOIND")
	if binary == "" {
		return nil
	}
	return open(tb, bitcoind(binary, filepath.Join(folder(tb), "core")))
}

// bitcoind returns the starter of another program with Core's options.
func bitcoind(binary, dir string) starter {
	return func(tb testing.TB, loadBlock ...string) *peer {
		tb.Helper()
		if err := os.MkdirAll(dir, 0o755); err != nil {
			tb.Fatal(err)
		}
		port := freePort(tb)
		args := []string{
			"-regtest", "-datadir=" + dir, "-rpcport=" + port, "-rpcuser=bench", "-rpcpassword=bench",
			"-blockfilterindex=1", "-listen=0", "-connect=0", "-printtoconsole=0", "-dbcache=1000",
			// Its check of the block index stops it when -loadblock meets an
			// empty data directory.
			"-checkblockindex=0", "-logtimemicros=1",
		}
		for _, path := range loadBlock {
			args = append(args, "-loadblock="+path)
		}
		program := exec.Command(binary, args...)
		program.Stderr = os.Stderr
		if err := program.Start(); err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = program.Process.Kill() }) // if nobody came to stop it
		p := &peer{Client: jsonrpc.New(net.JoinHostPort("127.0.0.1", port), login)}
		p.stop = func() { p.end(tb, program) }
		p.waitStarted(tb)
		return p
	}
}

// waitStarted waits until calls are answered.
func (p *peer) waitStarted(tb testing.TB) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for p.Call(ctx, nil, "getblockcount") != nil {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			p.stop()
			tb.Fatal("bitcoind does not answer")
		}
	}
}

// end stops the program.
func (p *peer) end(tb testing.TB, program *exec.Cmd) {
	tb.Helper()
	defer p.Close()
	impatient := time.AfterFunc(patience, func() { _ = program.Process.Kill() })
	defer impatient.Stop()
	if err := p.Call(context.Background(), nil, "stop"); err != nil {
		_ = program.Process.Kill()
	}
	if err := program.Wait(); err != nil {
		tb.Errorf("bitcoind: %v", err)
	}
}

func freePort(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	return port
}
