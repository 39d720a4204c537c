package forward

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
	"github.com/seed61375155/trawl/rpc/command"
)

// mode is what a simulated Core does with calls.
type mode int

const (
	up mode = iota
	down
	hung
	busy
	barred // it serves other addresses alone
)

// A coreSim judges logins as Core does, by the configuration that it was started with.
type coreSim struct {
	*httptest.Server
	dir string

	mu      sync.Mutex
	mode    mode
	changed chan struct{} // closed when the mode changes
	lists   rpcauth.Whitelists
	users   map[string]string
	asked   int
}

// password is that of a user of every configuration.
func password(user string) string { return "password of " + user }

func newCoreSim(t *testing.T) *coreSim {
	t.Helper()
	c := &coreSim{dir: t.TempDir(), changed: make(chan struct{})}
	c.Server = httptest.NewServer(c)
	t.Cleanup(func() { c.set(up); c.Close() })
	return c
}

func (c *coreSim) set(m mode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mode = m
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *coreSim) state() (m mode, changed chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	return c.mode, c.changed
}

func (c *coreSim) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	m, changed := c.state()
	for ; m == hung; m, changed = c.state() {
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
	switch m {
	case down:
		panic(http.ErrAbortHandler)
	case busy:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case barred:
		w.WriteHeader(http.StatusForbidden)
		return
	case up, hung:
	}
	user, sent, any := r.BasicAuth()
	if !any { // it answers that at once
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	c.mu.Lock()
	want, known := c.users[user]
	limited := c.lists.Of(user).Limited()
	c.mu.Unlock()
	switch {
	case !known || sent != want:
		time.Sleep(patience / 5) // Core takes its time, too
		w.WriteHeader(http.StatusUnauthorized)
	case limited:
		w.WriteHeader(http.StatusForbidden)
	default:
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":0}`)
	}
}

// A configuration says what users may call: nil is everything.
type configuration map[string][]string

// write writes bitcoin.conf.
func (c *coreSim) write(t *testing.T, of configuration) {
	t.Helper()
	var text strings.Builder
	text.WriteString("regtest=1\nrpcwhitelistdefault=0\n")
	for user, methods := range of {
		fmt.Fprintf(&text, "rpcauth=%s:s$%s\n", user, rpcauth.Hash("s", password(user)))
		if methods != nil {
			fmt.Fprintf(&text, "rpcwhitelist=%s:%s\n", user, strings.Join(methods, ","))
		}
	}
	c.file(t, "bitcoin.conf", text.String())
}

func (c *coreSim) file(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start starts Core with a configuration and a new cookie.
func (c *coreSim) start(t *testing.T, of configuration, cookie string) {
	t.Helper()
	c.write(t, of)
	c.file(t, filepath.Join("regtest", ".cookie"), cookieName+":"+cookie)
	users := map[string]string{cookieName: cookie}
	var entries []string
	for user, methods := range of {
		users[user] = password(user)
		if methods != nil {
			entries = append(entries, user+":"+strings.Join(methods, ","))
		}
	}
	c.mu.Lock()
	c.users, c.lists = users, rpcauth.ParseWhitelists(entries, new(bool))
	c.mu.Unlock()
	c.set(up)
}

// A gate is what judges logins beside a simulated Core.
type gate struct {
	*logins
	core *coreSim
	ago  time.Duration // how far its clock is ahead
}

func newGate(t *testing.T, core *coreSim, remote bool) *gate {
	t.Helper()
	address, err := corenode.ParseAddress(core.URL, 0)
	if err != nil {
		t.Fatal(err)
	}
	config := &Config{Core: connect(t, corenode.Config{Address: address, User: "own", Password: "own"})}
	if !remote {
		config.Reread = func() (corenode.Configured, error) { return corenode.ReadConfig(core.dir, "regtest") }
		configured, err := config.Reread()
		if err != nil {
			t.Fatal(err)
		}
		config.Configured = &configured
	}
	g := &gate{logins: newLogins(config, served(t).factsOf, func(string) bool { return false }), core: core}
	g.waits.busy = 0
	g.now = func() time.Time { return time.Now().Add(g.ago) }
	return g
}

// connect returns a client of a Core.
func connect(t *testing.T, c corenode.Config) *corenode.Client {
	t.Helper()
	client, err := corenode.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// served returns a forwarder that knows the methods of the node.
func served(t *testing.T) *Forwarder {
	t.Helper()
	f := New(Config{})
	f.Serve(Table(t, nil))
	return f
}

// lose is what the news of the chain notice when Core ends.
func (g *gate) lose(t *testing.T) {
	t.Helper()
	g.core.set(down)
	if _, err := g.logins.core.BestBlock(t.Context()); !errors.Is(err, corenode.ErrAway) {
		t.Fatal(err)
	}
}

func header(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// login has somebody log in as the server does.
func (g *gate) login(ctx context.Context, user, password string) command.Login {
	if login := g.Known(ctx, header(user, password)); login != nil {
		return login
	}
	login, err := g.Ask(ctx, header(user, password))
	if err != nil {
		return nil
	}
	return login
}

// letters stand for methods, w for the use of wallets.
var letters = []struct{ letter, method string }{{"c", "getblockcount"}, {"h", "getblockhash"}, {"s", "scanblocks"}}

// rightsOf returns what a login may do, one letter each.
func rightsOf(login command.Login) (may string) {
	if login == nil || !login.Any() {
		return ""
	}
	var list strings.Builder
	for _, of := range letters {
		if login.Allows(of.method) {
			list.WriteString(of.letter)
		}
	}
	may = list.String()
	if login.(coreLogin).rights().mayUseWallets() {
		may += "w"
	}
	return may
}

var (
	wide = configuration{
		"full": nil, "low": {"getblockcount"}, "was": nil, "scan": {"getblockcount", "getblockhash", "scanblocks"},
		"later": nil, "stranger": nil,
	}
	narrow = configuration{
		"full": nil, "low": {"getblockcount"}, "scan": {"getblockcount"}, "later": {"getblockcount"}, "stranger": nil,
	}
)

func (c *coreSim) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked
}
