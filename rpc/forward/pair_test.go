package forward_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/forward"
)

// Passwords that may be seen nowhere.
const (
	cookieSecret = "core-cookie-secret-1"
	userSecret   = "core-user-secret-2"
	guess        = "a-wrong-guess-3"
	ownSecret    = "own-secret-4"
)

// A core answers as Core does: it has logins, a user with a whitelist, and replies
// by method.
type core struct {
	*httptest.Server
	mu      sync.Mutex
	seen    []string // user and body of each request that was let in
	paths   []string
	wrong   []time.Time
	replies map[string]string
	large   map[string]func(http.ResponseWriter)
}

func newCore(tb testing.TB) *core {
	tb.Helper()
	c := &core{replies: map[string]string{
		"getmempoolinfo": `{"jsonrpc":"2.0","result":{"size": 1.00000000,"b":"\u00e9"},"id":0}`,
		"getchaintips":   `{"jsonrpc":"2.0","error":{"code":-5,"message":"no ☃"},"id":0}`,
		"warm":           `{"jsonrpc":"2.0","error":{"code":-28,"message":"Verifying blocks…"},"id":0}`,
		"generate":       `{"jsonrpc":"2.0","result":[],"id":0}`,
		"broken":         `{"jsonrpc":"2.0","result":{"a":,"id":0}`,
		"sendmany":       `{"jsonrpc":"2.0","result":"txid","id":0}`,
	}}
	c.Server = httptest.NewServer(c)
	tb.Cleanup(c.Close)
	return c
}

// answer has calls of a method answered by a function from now on.
func (c *core) answer(method string, by func(http.ResponseWriter)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.large = map[string]func(http.ResponseWriter){method: by}
}

func (c *core) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	user, password, _ := r.BasicAuth()
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case user == "__cookie__" && password == cookieSecret, user == "alice" && password == userSecret,
		user == "listed" && password == userSecret:
	default:
		c.wrong = append(c.wrong, time.Now())
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var call struct{ Method string }
	if json.Unmarshal(body, &call) != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if user == "listed" && call.Method != "getmempoolinfo" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	if call.Method == "busy" {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	c.seen, c.paths = append(c.seen, user+" "+string(body)), append(c.paths, r.URL.EscapedPath())
	if large := c.large[call.Method]; large != nil {
		large(w)
		return
	}
	reply, ok := c.replies[call.Method]
	if !ok {
		reply = `{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":0}`
	}
	_, _ = io.WriteString(w, reply)
}

// A pair is a server before a Core.
type pair struct {
	url   string
	core  *core
	log   *logBuffer
	moved atomic.Int64

	forwarder *forward.Forwarder
}

func newPair(tb testing.TB, change func(*forward.Config)) *pair {
	tb.Helper()
	p := &pair{core: newCore(tb), log: new(logBuffer)}
	cookie := filepath.Join(tb.TempDir(), ".cookie")
	if err := os.WriteFile(cookie, []byte("__cookie__:"+cookieSecret), 0o600); err != nil {
		tb.Fatal(err)
	}
	address, err := corenode.ParseAddress(p.core.URL, 0)
	if err != nil {
		tb.Fatal(err)
	}
	client, err := corenode.New(corenode.Config{Address: address, Cookie: cookie})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(client.Close)
	config := forward.Config{
		Core:       client,
		Configured: &corenode.Configured{Cookie: cookie, Whitelists: rpcauth.ParseWhitelists(nil, nil)},
		Follow: func(context.Context) error {
			p.moved.Add(1)
			return nil
		},
	}
	config.NameUnknown = func(name string, err error) {
		slog.New(slog.NewTextHandler(p.log, nil)).Warn("unknown", "wallet", name, "err", err)
	}
	if change != nil {
		change(&config)
	}
	f := forward.New(config)
	p.forwarder = f
	index := own("getindexinfo", func() (any, error) {
		return jsontree.Members{{Key: corenode.FilterIndex, Value: 5}}, nil
	})
	index.Params = []command.Param{{Name: "index_name", Type: command.String, Optional: true}}
	help := forward.Facts("help")
	help.Category = command.Control
	help.Params = []command.Param{{Name: "command", Type: command.String, Optional: true}}
	help.Run = func(_ context.Context, a *command.Args) (any, error) {
		method, _ := a.Value(0).AsString()
		return "help: unknown command: " + method, nil
	}
	table, err := command.NewTable([]command.Command{
		help,
		own("getblockcount", func() (any, error) { return 7, nil }),
		own("getmempoolinfo", func() (any, error) { panic("ours") }),
		own("stop", func() (any, error) { return "stopping", nil }),
		own("generate", func() (any, error) { panic("ours") }),
		own("getrawmempool", func() (any, error) { panic("ours") }),
		index,
	})
	if err != nil {
		tb.Fatal(err)
	}
	handler := slog.NewTextHandler(p.log, &slog.HandlerOptions{Level: slog.LevelDebug})
	server, err := rpc.NewServer(rpc.Config{
		Log: slog.New(handler), User: "own", Password: ownSecret, Logins: f.Logins(),
	})
	if err != nil {
		tb.Fatal(err)
	}
	server.Ready(f.Serve(table))
	done := make(chan error, 1)
	go func() { done <- server.Serve() }()
	tb.Cleanup(func() {
		if err := server.Shutdown(context.Background()); err != nil {
			tb.Error(err)
		}
		<-done
		for _, secret := range []string{cookieSecret, userSecret, guess, ownSecret, "argument"} {
			if strings.Contains(p.log.String(), secret) {
				tb.Errorf("%s is in the log", secret)
			}
		}
	})
	p.url = "http://" + server.Addrs()[0].String()
	return p
}

func own(name string, run func() (any, error)) command.Command {
	c := forward.Facts(name)
	c.Category = command.Blockchain
	c.Run = func(context.Context, *command.Args) (any, error) { return run() }
	return c
}

// A logBuffer keeps what is logged.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (p *pair) post(tb testing.TB, login, path, body string) (status int, reply string) {
	tb.Helper()
	req, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, p.url+path, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(login)))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		tb.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		tb.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

const (
	asCookie = "__cookie__:" + cookieSecret
	asAlice  = "alice:" + userSecret
	asListed = "listed:" + userSecret
	asOwn    = "own:" + ownSecret
)

// middle returns the median.
func middle(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[len(took)/2]
}
