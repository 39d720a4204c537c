package e2e_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

const (
	readAgain    = "Configuration read again"
	notReadAgain = "The configuration was not read again"
)

// writeConfig writes the configuration of a regtest directory.
func writeConfig(t *testing.T, dir string, lines ...string) {
	t.Helper()
	text := "[regtest]\n" + strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(filepath.Join(dir, "trawl.conf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func rpcAuth(user, password string) string {
	return "rpcauth=" + user + ":s$" + rpcauth.Hash("s", password)
}

// testHangup: SIGHUP takes up new logins, whitelists and log categories, and nothing of files
// that have a mistake.
func testHangup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeConfig(t, dir, rpcAuth("a", "one"), "rpcwhitelistdefault=0")
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Dir: dir})
	hangUp := func(wait string) {
		t.Helper()
		before := strings.Count(d.Log(), wait)
		d.Signal(syscall.SIGHUP)
		e2e.Eventually(t, 20*time.Second, wait, func() bool { return strings.Count(d.Log(), wait) > before })
	}
	answers := func(password, method string) int {
		t.Helper()
		c := jsonrpc.New(d.Addr, "a:"+password)
		defer c.Close()
		body, err := jsonrpc.Encode(method)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Post(t.Context(), "/", body)
		if err != nil {
			t.Error(err)
		}
		return got.Status
	}
	call := func(password, method string, want int) {
		t.Helper()
		if got := answers(password, method); got != want {
			t.Errorf("%s as a:%s: %d, want %d", method, password, got, want)
		}
	}
	call("one", "getblockcount", 200)
	if strings.Contains(d.Log(), "[rpc] ") {
		t.Error("the category rpc is logged from the start")
	}
	writeConfig(t, dir, rpcAuth("a", "two"), "rpcwhitelist=a:uptime", "rpcwhitelistdefault=0", "debug=rpc")
	hangUp(readAgain)
	call("one", "uptime", 401)
	call("two", "getblockcount", 403)
	d.Get(nil, "getblockcount") // by the cookie
	if !strings.Contains(d.Log(), "[rpc] ") {
		t.Error("the category rpc is not logged")
	}
	const secret = "correct horse"
	for _, mistake := range []string{
		"rpcauth=broken", "debug=nosuch", "rpcpassword " + secret, "-rpcpassword=" + secret, "norpcpassword " + secret,
	} {
		writeConfig(t, dir, rpcAuth("a", "three"), mistake)
		hangUp(notReadAgain)
		call("two", "getblockcount", 403)
	}
	if strings.Contains(d.Log(), secret) {
		t.Error("the log has a password whose line has a mistake")
	}
	// A pipe, to open which would wait for a writer, holds up neither what comes after it nor the stop.
	config := filepath.Join(dir, "trawl.conf")
	asPipe := func() {
		t.Helper()
		if err := errors.Join(os.Remove(config), syscall.Mkfifo(config, 0o600)); err != nil {
			t.Fatal(err)
		}
		hangUp(notReadAgain)
		call("two", "getblockcount", 403)
	}
	asPipe()
	if err := os.Remove(config); err != nil {
		t.Fatal(err)
	}
	writeConfig(t, dir, rpcAuth("a", "two"), "rpcwhitelist=a:uptime", "rpcwhitelistdefault=0")
	hangUp(readAgain)
	asPipe()
	// Nor does a log that has become one, which nobody reads: what is read again is so all the same.
	if err := os.Remove(config); err != nil {
		t.Fatal(err)
	}
	writeConfig(t, dir, rpcAuth("a", "four"), "rpcwhitelistdefault=0", "debug=rpc")
	logFile := filepath.Join(dir, "regtest", "debug.log")
	if err := errors.Join(os.Remove(logFile), syscall.Mkfifo(logFile, 0o600)); err != nil {
		t.Fatal(err)
	}
	d.Signal(syscall.SIGHUP)
	e2e.Eventually(t, 20*time.Second, "the new login", func() bool { return answers("four", "uptime") == 200 })
	for range 3000 { // more lines than a pipe holds
		if got := answers("four", "logging"); got != 200 {
			t.Fatalf("logging: %d", got)
		}
	}
	d.Stop()
}

// testHangupTLS: SIGHUP shows the certificate that is in the files by then.
func testHangupTLS(t *testing.T) {
	t.Parallel()
	dir, addr := t.TempDir(), e2e.FreeAddr(t)
	netDir := filepath.Join(dir, "regtest")
	if err := os.Mkdir(netDir, 0o700); err != nil {
		t.Fatal(err)
	}
	e2e.Certificate(t, netDir)
	port := addr[strings.LastIndexByte(addr, ':')+1:]
	d := e2e.Run(t, e2e.Program(t, "trawld"), "-datadir="+dir, "-regtest", "-listen=0", "-rpcport="+port,
		"-rpctls=cert.pem,key.pem")
	count := func() string {
		p := cli(t, dir, addr, "-rpctlscert=trusted.pem", "-rpcwait", "-rpcwaittimeout=60", "getblockcount")
		p.Wait(t)
		return p.Stdout() + p.Stderr()
	}
	trust := func() {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(netDir, "cert.pem"))
		if err == nil {
			err = os.WriteFile(filepath.Join(netDir, "trusted.pem"), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	trust()
	if got := count(); got != "0\n" {
		t.Fatal(got, d.Stderr())
	}
	e2e.Certificate(t, netDir)
	d.Signal(syscall.SIGHUP)
	trust()
	e2e.Eventually(t, 20*time.Second, "the new certificate", func() bool {
		p := cli(t, dir, addr, "-rpctlscert=trusted.pem", "getblockcount")
		return p.Wait(t) == 0
	})
	d.Signal(syscall.SIGTERM)
	if status := d.Wait(t); status != 0 {
		t.Error(status, d.Stderr())
	}
}
