package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
)

// TestDaemonLifecycle is what scripts around a node see of its life.
func TestDaemonLifecycle(t *testing.T) {
	t.Run("data directory", testDataDirectory)
	t.Run("one daemon a directory", testLock)
	t.Run("SIGTERM", testTerminate)
	t.Run("SIGHUP", testHangup)
	t.Run("SIGHUP and TLS", testHangupTLS)
	t.Run("unknown option", testUnknownOption)
	t.Run("bitcoin.conf", testBitcoinConf)
	t.Run("command line", testCommandLine)
	t.Run("command line waits", testCommandLineWaits)
}

func startRegtest(t *testing.T, args ...string) *e2e.Daemon {
	t.Helper()
	return e2e.Start(t, e2e.Config{Chain: "regtest", Args: args})
}

// run runs a program to its end and compares what it leaves.
func run(t *testing.T, p *e2e.Process, status int, stdout, stderr string) {
	t.Helper()
	if got := p.Wait(t); got != status || p.Stdout() != stdout || p.Stderr() != stderr {
		t.Errorf("got  %d, %q, %q\nwant %d, %q, %q", got, p.Stdout(), p.Stderr(), status, stdout, stderr)
	}
}

func testDataDirectory(t *testing.T) {
	t.Parallel()
	d := startRegtest(t, "-blockfilterindex=1")
	for _, dir := range []string{"blocks", "chainstate", "indexes/blockfilter/basic", "wallets"} {
		if info, err := os.Stat(filepath.Join(d.NetDir, dir)); err != nil || !info.IsDir() {
			t.Errorf("folder %s: %v", dir, err)
		}
	}
	for file, mode := range map[string]os.FileMode{
		".cookie": 0o600, ".lock": 0o600, "debug.log": 0o600, "blocks/blk00000.dat": 0o600,
	} {
		if info, err := os.Stat(filepath.Join(d.NetDir, file)); err != nil || info.Mode() != mode {
			t.Errorf("file %s: %v, %v", file, info, err)
		}
	}
	d.Stop()
	if _, err := os.Stat(filepath.Join(d.NetDir, ".cookie")); !os.IsNotExist(err) {
		t.Errorf("the cookie is left: %v", err)
	}
	if log := d.Log(); !strings.HasSuffix(log, "Shutdown done\n") {
		t.Errorf("the log ends with\n%s", d.LogTail())
	}
}

func testLock(t *testing.T) {
	t.Parallel()
	d := startRegtest(t)
	second := e2e.Run(t, e2e.Program(t, "trawld"), "-datadir="+d.Dir, "-regtest", "-printtoconsole=0", "-listen=0", "-rpcport=0")
	run(t, second, 1, "", "Error: Cannot obtain a lock on directory "+d.NetDir+". Bitcoin Core is probably already running.\n")
	d.Get(nil, "getblockcount")
	d.Stop()
	d.Restart()
	d.Stop()
}

func testTerminate(t *testing.T) {
	t.Parallel()
	d := startRegtest(t)
	var hashes []string
	d.Get(&hashes, "generatetoaddress", 3, newAddress())
	d.Terminate()
	d.Restart()
	d.WaitTip(hashes[2], 3, false)
	d.Terminate()
}

func testUnknownOption(t *testing.T) {
	t.Parallel()
	p := e2e.Run(t, e2e.Program(t, "trawld"), "-datadir="+t.TempDir(), "-nosuchoption")
	run(t, p, 1, "", "Error: Error parsing command line arguments: Invalid parameter -nosuchoption\n")
}

func testBitcoinConf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	conf := "server=1\n[regtest]\nblockfilterindex=1\n"
	if err := os.WriteFile(filepath.Join(dir, "bitcoin.conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Dir: dir})
	var indexes map[string]any
	d.Get(&indexes, "getindexinfo")
	if _, ok := indexes["basic block filter index"]; !ok {
		t.Errorf("got indexes %v", indexes)
	}
	d.Stop()
}

// cli starts trawl-cli on a daemon's directory.
func cli(t *testing.T, dir, addr string, args ...string) *e2e.Process {
	t.Helper()
	_, port, _ := strings.Cut(addr, ":")
	return e2e.Run(
		t, e2e.Program(t, "trawl-cli"), append([]string{"-datadir=" + dir, "-regtest", "-rpcport=" + port}, args...)...,
	)
}

func testCommandLine(t *testing.T) {
	t.Parallel()
	d := startRegtest(t)
	run(t, cli(t, d.Dir, d.Addr, "getblockcount"), 0, "0\n", "")
	run(t, cli(t, d.Dir, d.Addr, "getblockhash", "1"), 8, "", "error code: -8\nerror message:\nBlock height out of range\n")
	run(t, cli(t, d.Dir, d.Addr, "nosuchmethod"), 89, "", "error code: -32601\nerror message:\nMethod not found\n")
	run(t, cli(t, d.Dir, d.Addr, "-rpcpassword=wrong", "getblockcount"), 1, "",
		"error: Authorization failed: Incorrect rpcuser or rpcpassword were specified. "+
			"Configuration file: ("+filepath.Join(d.Dir, "trawl.conf")+")\n")
	run(t, cli(t, d.Dir, d.Addr, "stop"), 0, "Trawl stopping\n", "")
	d.WantCleanEnd()

	p := cli(t, d.Dir, d.Addr, "getblockcount")
	want := "communicate with server " + d.Addr + " (Could not connect to the server)"
	if status := p.Wait(t); status != 1 || !strings.Contains(p.Stderr(), want) {
		t.Errorf("without a daemon: got %d, %q", status, p.Stderr())
	}
}

func testCommandLineWaits(t *testing.T) {
	t.Parallel()
	dir, addr := t.TempDir(), e2e.FreeAddr(t)
	waiting := cli(t, dir, addr, "-rpcwait", "getblockcount")
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Dir: dir, Addr: addr})
	run(t, waiting, 0, "0\n", "")
	d.Stop()
}

// With -deprecatedrpc=warnings three methods tell the latest warning alone, as text.
func TestLastWarning(t *testing.T) {
	t.Parallel()
	for _, text := range []bool{false, true} {
		var args []string
		if text {
			args = []string{"-deprecatedrpc=warnings"}
		}
		d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: args})
		for _, method := range []string{"getblockchaininfo", "getmininginfo", "getnetworkinfo"} {
			var info struct{ Warnings any }
			d.Get(&info, method)
			if _, is := info.Warnings.(string); is != text {
				t.Errorf("%s with %v: warnings are %v", method, args, info.Warnings)
			}
		}
	}
}
