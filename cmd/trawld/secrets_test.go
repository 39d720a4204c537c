package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The secrets that a daemon of these tests is told.
const (
	password     = "correct-horse-battery"
	authPassword = "staple-of-the-other-user"
	authSalt     = "5a17ed5a17ed5a17"
	torPassword  = "onion-of-the-control-port"
	signingKey   = "cVpF924EspNh8KjYsfhgY96mmxvT6DgdWiTYMtMjuM74hJaU5psW"
	privateKey   = "tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2AtHcQJCCRUcMRvmDUjyEmNUWwx8UbK"
)

// A running is a daemon in this process, on a socket of its own.
type running struct {
	dir            string
	stdout, stderr bytes.Buffer
	status         chan int
	http           http.Client
}

// runDaemon runs the program until stop is called.
func runDaemon(t *testing.T, args ...string) *running {
	t.Helper()
	d := &running{dir: t.TempDir(), status: make(chan int, 1)}
	socket := filepath.Join(d.dir, "s") // as short as the system may want it
	d.http.Transport = &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}
	args = append(
		[]string{
			"-datadir=" + d.dir, "-regtest", "-debug", "-loglevel=trace", "-blockfilterindex", "-rpcunix=" + socket,
			"-rpcport=" + freePort(t),
		},
		args...,
	)
	go func() { d.status <- run(args, streams{&d.stdout, &d.stderr, d.dir}, startNode) }()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if log, _ := os.ReadFile(d.logPath()); strings.Contains(string(log), "init message: Done loading") {
			return d
		}
		if time.Since(began) > 30*time.Second {
			t.Fatalf("does not start: %s", d.stderr.String())
		}
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

func (d *running) logPath() string { return filepath.Join(d.dir, "regtest", "debug.log") }

// post returns the answer to a body, its head included.
func (d *running) post(t *testing.T, login, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	user, password, _ := strings.Cut(login, ":")
	req.SetBasicAuth(user, password)
	resp, err := d.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b bytes.Buffer
	b.WriteString(resp.Status + "\n")
	if err := resp.Header.Write(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(&b, resp.Body); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// stop ends the daemon and returns everything it has written.
func (d *running) stop(t *testing.T, login string) string {
	t.Helper()
	d.post(t, login, `{"method":"stop","id":1}`)
	if status := <-d.status; status != 0 {
		t.Errorf("status %d: %s", status, d.stderr.String())
	}
	log, err := os.ReadFile(d.logPath())
	if err != nil {
		t.Fatal(err)
	}
	return string(log) + d.stdout.String() + d.stderr.String()
}

// unsigned is a transaction with one input and one output.
const unsigned = "0200000001" + "1111111111111111111111111111111111111111111111111111111111111111" +
	"0000000000ffffffff" + "01" + "e803000000000000" + "0151" + "00000000"

// secretCalls are calls with a private key, right and wrong, and bodies that
// nothing can be made of.
var secretCalls = []string{
	`{"method":"getdescriptorinfo","params":["wpkh(KEY/*)"],"id":1}`,
	`{"method":"getdescriptorinfo","params":["wpkh(KEY/*"],"id":1}`,
	`{"method":"deriveaddresses","params":["wpkh(KEY/*)#00000000",[0,2]],"id":1}`,
	`{"method":"deriveaddresses","params":["KEY"],"id":1}`,
	`{"method":"scanblocks","params":["start",["wpkh(KEY/0)",{"desc":"wpkh(KEY/*)","range":5}]],"id":1}`,
	`{"method":"scanblocks","params":["KEY"],"id":1}`,
	`{"method":"scanblocks","params":["start","KEY"],"id":1}`,
	`{"method":"getblockhash","params":["KEY"],"id":1}`,
	`{"method":"getblockhash","params":{"KEY":1},"id":1}`,
	`{"method":"validateaddress","params":["KEY"],"id":1}`,
	`{"method":"createrawtransaction","params":[[],{"KEY":1}],"id":1}`,
	`{"method":"signrawtransactionwithkey","params":["00",["KEY"]],"id":1}`,
	`{"method":"signrawtransactionwithkey","params":["` + unsigned + `",["KEY"]],"id":1}`,
	`{"method":"signrawtransactionwithkey","params":["` + unsigned + `","KEY"],"id":1}`,
	`{"method":"KEY","id":1}`,
	`{"jsonrpc":"KEY","id":1}`,
	`{"method":"echo","params":["KEY"],"id":"KEY"}`,
	`["KEY",{"method":"KEY"}]`,
	`"KEY"`,
	`{"KEY`,
}

// otherCalls are what another user may learn from.
var otherCalls = []string{
	`{"method":"getrpcinfo","id":1}`,
	`{"method":"scanblocks","params":["status"],"id":1}`,
	`{"method":"getblockhash","params":["x"],"id":1}`,
	`{"method":"nosuch","id":1}`,
	`{"method":"help","id":1}`,
	`{`,
	``,
}

// TestSecrets: nothing that the daemon writes, and no answer to another user, has
// a password or a private key in it.
func TestSecrets(t *testing.T) {
	mac := hmac.New(sha256.New, []byte(authSalt))
	mac.Write([]byte(authPassword))
	auth := "other:" + authSalt + "$" + hex.EncodeToString(mac.Sum(nil))
	for name, options := range map[string][]string{
		"cookie":   {"-rpcauth=" + auth, "-torpassword=" + torPassword},
		"password": {"-rpcauth=" + auth, "-rpcuser=user", "-rpcpassword=" + password},
		"core 30":  {"-rpcauth=" + auth, "-rpcuser=user", "-rpcpassword=" + password, "-core=30"},
	} {
		t.Run(name, func(t *testing.T) {
			d := runDaemon(t, options...)
			login := "user:" + password
			if name == "cookie" {
				cookie, err := os.ReadFile(filepath.Join(d.dir, "regtest", ".cookie"))
				if err != nil {
					t.Fatal(err)
				}
				login = string(cookie)
			}
			var learned strings.Builder
			for _, call := range secretCalls {
				d.post(t, login, strings.ReplaceAll(call, "KEY", privateKey))
				d.post(t, login, strings.ReplaceAll(call, "KEY", signingKey))
			}
			for _, call := range otherCalls {
				learned.WriteString(d.post(t, "other:"+authPassword, call))
			}
			learned.WriteString(d.post(t, "nobody:"+privateKey, "{}"))
			learned.WriteString(d.post(t, login+privateKey, "{}")) // as if mistyped
			written := d.stop(t, login)
			if !strings.Contains(written, "incorrect password attempt") {
				t.Error("the log is not the right one")
			}
			_, secret, _ := strings.Cut(login, ":")
			for _, secret := range []string{
				secret, base64.StdEncoding.EncodeToString([]byte(login)), authPassword, authSalt, auth, privateKey,
				privateKey[4:40], signingKey, torPassword,
			} {
				if strings.Contains(written, secret) {
					t.Errorf("%q was written", secret)
				}
				if strings.Contains(learned.String(), secret) {
					t.Errorf("%q was told to another", secret)
				}
			}
		})
	}
}
