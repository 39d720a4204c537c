package replay

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A Core is a bitcoind on regtest, live or recorded, as a program beside it finds it: by the port in its bitcoin.conf,
// and by its cookie.
type Core struct {
	Dir  string // its data directory
	Live bool   // the test asks it without a tape

	tb     testing.TB
	tape   *Tape
	port   string // in its bitcoin.conf
	starts int
	cmd    *exec.Cmd
	server *http.Server
}

// StartCore starts a Core with lines of bitcoin.conf before the section of the network, and options. It skips the test
// where there is neither a Core nor a recording.
func StartCore(tb testing.TB, config string, args ...string) *Core {
	tb.Helper()
	c := &Core{tb: tb, tape: Open(tb), Dir: tb.TempDir(), port: freePort(tb)}
	c.Live = c.tape == nil
	if c.tape != nil {
		c.tape.Dir, c.tape.Logins, c.tape.Polled = c.Dir, c.loginOf, true
	}
	config = "regtest=1\n" + config + "\n[regtest]\nlisten=0\nrpcport=" + c.port + "\n"
	if err := os.WriteFile(filepath.Join(c.Dir, "bitcoin.conf"), []byte(config), 0o600); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Kill)
	c.Start(args...)
	return c
}

// Start starts it again, with other options.
func (c *Core) Start(args ...string) {
	c.tb.Helper()
	c.starts++
	if program := os.Getenv(coreVariable); program != "" {
		args = append([]string{"-datadir=" + c.Dir}, args...)
		if c.tape != nil {
			port := freePort(c.tb)
			args = append(args, "-rpcport="+port)
			c.tape.Connect("127.0.0.1:" + port)
		}
		c.cmd = exec.Command(program, args...) //nolint:noctx // killed
		if err := c.cmd.Start(); err != nil {
			c.tb.Fatal(err)
		}
	} else {
		c.writeCookie()
	}
	if c.tape == nil {
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+c.port) //nolint:noctx // a test
	if err != nil {
		c.tb.Fatal(err)
	}
	c.server = &http.Server{Handler: c.tape}
	go func(server *http.Server) { _ = server.Serve(listener) }(c.server)
}

// writeCookie writes another cookie for each start, as Core does.
func (c *Core) writeCookie() {
	c.tb.Helper()
	err := os.MkdirAll(filepath.Dir(c.cookie()), 0o700)
	if err == nil {
		err = os.WriteFile(c.cookie(), fmt.Appendf(nil, "%s:%d", cookieUser, c.starts), 0o600)
	}
	if err != nil {
		c.tb.Fatal(err)
	}
}

// Kill ends it at once.
func (c *Core) Kill() {
	if c.server != nil {
		_ = c.server.Close()
		c.server = nil
	}
	if c.cmd != nil {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
		c.cmd = nil
	}
}

const cookieUser = "__cookie__"

func (c *Core) cookie() string { return filepath.Join(c.Dir, "regtest", ".cookie") }

// loginOf names a login without its password.
func (c *Core) loginOf(authorization string) string {
	encoded, _ := strings.CutPrefix(authorization, "Basic ")
	login, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(login) == 0 {
		return "nobody"
	}
	user, password, _ := strings.Cut(string(login), ":")
	if user != cookieUser {
		sum := sha256.Sum256([]byte(password))
		return user + " " + hex.EncodeToString(sum[:4])
	}
	if cookie, err := os.ReadFile(c.cookie()); err != nil || string(cookie) != string(login) {
		return "another cookie"
	}
	return "the cookie"
}

// freePort returns a port that was free a moment ago.
func freePort(tb testing.TB) string {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test
	if err != nil {
		tb.Fatal(err)
	}
	defer listener.Close()
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port) //nolint:forcetypeassert // of TCP
}
