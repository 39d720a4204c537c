package e2e

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

// btcdModule is the program that real peers of the tests run: it comes from the
// module proxy. The variable BTCD of the environment names a btcd that is there
// already.
const btcdModule = "github.com/btcsuite/btcd@v0.25.0"

// A Btcd is a running btcd on a regtest of its own, which ends with the test.
type Btcd struct {
	*jsonrpc.Client

	Peer string // host:port for peers
}

// StartBtcd starts a btcd and waits until it answers.
func StartBtcd(tb testing.TB) *Btcd {
	tb.Helper()
	dir := tb.TempDir()
	rpc := FreeAddr(tb)
	b := &Btcd{Peer: FreeAddr(tb), Client: jsonrpc.New(rpc, "u:p")}
	config := filepath.Join(dir, "btcd.conf")
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		tb.Fatal(err)
	}
	process := Run(tb, btcdProgram(tb),
		"--regtest", "--configfile="+config, "--datadir="+dir, "--logdir="+filepath.Join(dir, "log"),
		"--rpcuser=u", "--rpcpass=p", "--rpclisten="+rpc, "--notls", "--listen="+b.Peer, "--nodnsseed",
		"--miningaddr=bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080")
	tb.Cleanup(b.Close)
	Eventually(tb, startLimit, "btcd answers", func() bool {
		return process.HasEnded() || b.Call(tb.Context(), nil, "getblockcount") == nil
	})
	if process.HasEnded() {
		tb.Fatalf("btcd ended: %v\n%s%s", process.Err(), process.Stdout(), process.Stderr())
	}
	return b
}

// Get calls a method that has to succeed.
func (b *Btcd) Get(tb testing.TB, result any, method string, params ...any) {
	tb.Helper()
	if err := b.Call(tb.Context(), result, method, params...); err != nil {
		tb.Fatalf("btcd: %s: %v", method, err)
	}
}

// btcdProgram returns the path of btcd, built once for all tests.
func btcdProgram(tb testing.TB) string {
	tb.Helper()
	if path := os.Getenv("BTCD"); path != "" {
		return path
	}
	path, err := programs.install(btcdModule)
	if err != nil {
		tb.Fatal(err)
	}
	return path
}

// PeerArgs are the options of a daemon that accepts peers at an address of this
// machine.
func PeerArgs(addr string) []string {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		panic(err) // not of FreeAddr
	}
	return []string{"-listen=1", "-bind=" + addr, "-port=" + port}
}

// installed is the command that puts the program of a module into a folder.
func installed(dir, module string) *exec.Cmd {
	build := exec.Command("go", "install", module)
	build.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS="+strings.ReplaceAll(os.Getenv("GOFLAGS"), "-mod=vendor", ""))
	build.Dir = dir // outside of this module
	return build
}
