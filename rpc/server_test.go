package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// A blocker is a method that runs until it is let go or its context ends.
type blocker struct {
	began chan struct{}
	free  chan struct{}
}

func newBlocker() *blocker {
	return &blocker{began: make(chan struct{}, 100), free: make(chan struct{})}
}

func (b *blocker) commands() []command.Command {
	return []command.Command{
		{Name: "block", Run: func(ctx context.Context, _ *command.Args) (any, error) {
			b.began <- struct{}{}
			select {
			case <-b.free:
				return "done", nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}},
		{
			Name: "status", Control: func(*command.Args) bool { return true },
			Run: func(context.Context, *command.Args) (any, error) {
				return "fine", nil
			},
		},
		{Name: "quick", Run: func(context.Context, *command.Args) (any, error) { return 1, nil }},
		{Name: "panic", Run: func(context.Context, *command.Args) (any, error) { panic("oops") }},
		{Name: "late", Run: func(context.Context, *command.Args) (any, error) { return late{}, nil }},
		{
			Name: "fail",
			Run:  func(context.Context, *command.Args) (any, error) { return nil, errors.New("the disk is full") },
		},
		{Name: "bug", Run: func(context.Context, *command.Args) (any, error) { return []byte("x"), nil }},
		{
			Name: "wallet",
			Run:  func(_ context.Context, a *command.Args) (any, error) { return []any{a.User, a.WalletPath}, nil },
		},
	}
}

// late is a result that panics when it is written.
type late struct{}

func (late) AppendJSON([]byte) []byte { panic("oh") }

func blockerTable(t *testing.T, b *blocker) *command.Table {
	t.Helper()
	table, err := command.NewTable(b.commands())
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// A client logs in as user u with password p.
type client struct {
	addr string
	http http.Client
}

func newClient(t *testing.T, s *Server) *client {
	t.Helper()
	c := &client{addr: s.Addrs()[0].String(), http: http.Client{Transport: &http.Transport{}}}
	t.Cleanup(c.http.CloseIdleConnections)
	return c
}

// post returns status and body of the answer to a body.
func (c *client) post(ctx context.Context, path, login, body string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.addr+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Authorization", basic(login))
	resp, err := c.http.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return strings.TrimSpace(resp.Status[:3] + " " + string(text)), err
}

func (c *client) want(t *testing.T, body, want string) {
	t.Helper()
	if got, err := c.post(t.Context(), "/", "u:p", body); err != nil || got != want {
		t.Errorf("%s\ngot  %s, %v\nwant %s", body, got, err, want)
	}
}

func v2Call(method string) string { return `{"jsonrpc":"2.0","method":"` + method + `","id":1}` }

// A safeBuffer is a log that may be read while it is written.
type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// waitForQueue returns when n calls wait for a worker.
func waitForQueue(s *Server, n int) {
	for len(s.workers.waiting) < n {
		runtime.Gosched()
	}
}

func TestWarmup(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p"})
	c := newClient(t, s)
	const legacyCall = `{"method":"nosuch","params":5.5,"id":1}`
	c.want(t, `{"method":"nosuch","id":1}`, `500 {"result":null,"error":{"code":-28,"message":"RPC server started"},"id":1}`)
	c.want(t, legacyCall, `400 {"result":null,"error":{"code":-32600,"message":"Params must be an array or object"},"id":1}`)
	s.SetWarmup("Loading block index…")
	c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","error":{"code":-28,"message":"Loading block index…"},"id":1}`)
	s.Ready(blockerTable(t, newBlocker()))
	c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`)
}

// One worker is busy, one call waits: the next is refused, control is not.
func TestWorkQueueAndControlLane(t *testing.T) {
	b := newBlocker()
	s := startServer(t, Config{User: "u", Password: "p", Threads: 1, WorkQueue: 1})
	s.Ready(blockerTable(t, b))
	c := newClient(t, s)
	var calls sync.WaitGroup
	for range 2 {
		calls.Go(func() { c.want(t, v2Call("block"), `200 {"jsonrpc":"2.0","result":"done","id":1}`) })
	}
	<-b.began
	waitForQueue(s, 1)
	c.want(t, v2Call("quick"), "503 Work queue depth exceeded")
	c.want(t, "["+v2Call("status")+","+v2Call("quick")+"]", "503 Work queue depth exceeded")
	c.want(t, v2Call("status"), `200 {"jsonrpc":"2.0","result":"fine","id":1}`)
	c.want(t, "["+v2Call("status")+"]", `200 [{"jsonrpc":"2.0","result":"fine","id":1}]`)
	c.want(t, v2Call("nosuch"), `200 {"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":1}`)
	if got, err := c.post(t.Context(), "/", "u:wrong", v2Call("status")); got != "401" {
		t.Error(got, err)
	}
	close(b.free)
	calls.Wait()
	c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`)
}

func TestShutdownAnswersRunningCalls(t *testing.T) {
	b := newBlocker()
	s := startServer(t, Config{User: "u", Password: "p", Threads: 1})
	s.Ready(blockerTable(t, b))
	c := newClient(t, s)
	var calls sync.WaitGroup
	calls.Go(func() {
		c.want(t, v2Call("block"), `200 {"jsonrpc":"2.0","error":{"code":-9,"message":"Shutting down"},"id":1}`)
	})
	<-b.began
	calls.Go(func() { c.want(t, v2Call("block"), "503 Work queue depth exceeded") })
	waitForQueue(s, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	calls.Wait()
	if got, err := c.post(t.Context(), "/", "u:p", v2Call("quick")); err == nil {
		t.Errorf("after shutdown: %s", got)
	}
}

func TestShutdownCutsWhatDoesNotEnd(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p"})
	stuck, began := make(chan struct{}), make(chan struct{})
	table, err := command.NewTable([]command.Command{{
		Name: "stuck", Run: func(context.Context, *command.Args) (any, error) {
			close(began)
			<-stuck
			return nil, nil
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.Ready(table)
	c := newClient(t, s)
	var call sync.WaitGroup
	call.Go(func() {
		if got, err := c.post(t.Context(), "/", "u:p", v2Call("stuck")); err == nil {
			t.Errorf("got %s", got)
		}
	})
	<-began
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Shutdown(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	call.Wait()
	close(stuck)
}

// A client that does not read its reply does not hold up the end; a client that reads gets its whole
// reply.
func TestShutdownBesideSilentReader(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p", Threads: 2})
	s.conns.patience = 500 * time.Millisecond
	long := strings.Repeat("x", 32<<20)
	table, err := command.NewTable([]command.Command{{
		Name: "long", Run: func(context.Context, *command.Args) (any, error) { return long, nil },
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.Ready(table)
	body := v2Call("long")
	ask := func() net.Conn {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Addrs()[0].String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic dTpw\r\n"+
			"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil { // the reply has begun
			t.Fatal(err)
		}
		return c
	}
	ask()
	reader := ask()
	read := make(chan int64, 1)
	go func() {
		n, _ := io.Copy(io.Discard, reader)
		read <- n
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Errorf("the end was held up: %v", err)
	}
	if n := <-read; n < int64(len(long)) {
		t.Errorf("%d bytes came, want %d", n, len(long))
	}
}

// A client that leaves ends nothing.
func TestClientLeaves(t *testing.T) {
	b := newBlocker()
	s := startServer(t, Config{User: "u", Password: "p", Threads: 1})
	table := blockerTable(t, b)
	s.Ready(table)
	c := newClient(t, s)
	ctx, leave := context.WithCancel(t.Context())
	var call sync.WaitGroup
	call.Go(func() {
		if _, err := c.post(ctx, "/", "u:p", v2Call("block")); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	<-b.began
	leave()
	call.Wait()
	if active := table.Active(); len(active) != 1 || active[0].Method != "block" {
		t.Errorf("runs: %v", active)
	}
	close(b.free)
	c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`)
}

func TestFailuresStayInside(t *testing.T) {
	var log safeBuffer
	s := startServer(t, Config{User: "u", Password: "p", Log: slog.New(slog.NewTextHandler(&log, nil))})
	s.Ready(blockerTable(t, newBlocker()))
	c := newClient(t, s)
	for method, cause := range map[string]string{"panic": "oops", "fail": "the disk is full", "bug": "no JSON form", "late": "oh"} {
		c.want(t, v2Call(method), `200 {"jsonrpc":"2.0","error":{"code":-32603,"message":"Internal error"},"id":1}`)
		if !strings.Contains(log.String(), "method="+method) || !strings.Contains(log.String(), cause) {
			t.Errorf("logged\n%s", log.String())
		}
	}
	c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`)
}

func TestWrongPasswordIsLogged(t *testing.T) {
	var log safeBuffer
	s := startServer(t, Config{User: "u", Password: "p", Log: slog.New(slog.NewTextHandler(&log, nil))})
	began := time.Now()
	if got, err := newClient(t, s).post(t.Context(), "/", "u:guessed", "{}"); got != "401" {
		t.Error(got, err)
	}
	if waited := time.Since(began); waited < loginDelay {
		t.Errorf("answered after %v", waited)
	}
	if text := log.String(); !strings.Contains(text, "ThreadRPCServer incorrect password attempt from ") || strings.Contains(text, "guessed") {
		t.Errorf("logged\n%s", text)
	}
}

func TestCallerReachesTheMethod(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p"})
	s.Ready(blockerTable(t, newBlocker()))
	c := newClient(t, s)
	for path, want := range map[string]string{
		"/": "null", "/wallet/": `""`, "/wallet/a%20b%2Fc": `"a b/c"`, "/wallet/w?x=1": `"w?x=1"`, "/wallet/a+b": `"a+b"`,
	} {
		if got, err := c.post(t.Context(), path, "u:p", v2Call("wallet")); got != `200 {"jsonrpc":"2.0","result":["u",`+want+`],"id":1}` {
			t.Errorf("%s: got %s, %v", path, got, err)
		}
	}
}

func TestWhitelistOverHTTP(t *testing.T) {
	s := startServer(t, Config{
		Auth:      []string{"other:s$" + rpcauth.Hash("s", "p")},
		User:      "u",
		Password:  "p",
		Whitelist: []string{"u:quick,status"},
	})
	s.Ready(blockerTable(t, newBlocker()))
	c := newClient(t, s)
	quick, fail := v2Call("quick"), v2Call("fail")
	tests := []struct{ login, body, want string }{
		{"u:p", quick, `200 {"jsonrpc":"2.0","result":1,"id":1}`},
		{"u:p", fail, "403"},
		{"u:p", v2Call("nosuch"), "403"},
		{"u:p", "[" + quick + "]", `200 [{"jsonrpc":"2.0","result":1,"id":1}]`},
		{"u:p", "[" + quick + "," + fail + "]", "403"},
		{"u:p", "[" + quick + ",5]", `400 {"result":null,"error":{"code":-32600,"message":"Invalid Request object"},"id":null}`},
		{
			"u:p", "[{}]",
			`500 {"result":null,"error":{"code":-32700,"message":"JSON value of type null is not of expected type string"},"id":null}`,
		},
		{"u:p", "{", `500 {"result":null,"error":{"code":-32700,"message":"Parse error"},"id":null}`},
		{"u:p", `{"method":5}`, `400 {"result":null,"error":{"code":-32600,"message":"Method must be a string"}}`},
		{"other:p", quick, "403"},
		{"other:p", "[]", "403"},
		{"other:p", "{", `500 {"result":null,"error":{"code":-32700,"message":"Parse error"},"id":null}`},
	}
	for _, test := range tests {
		if got, err := c.post(t.Context(), "/", test.login, test.body); got != test.want {
			t.Errorf("%s %s: got %s, %v, want %s", test.login, test.body, got, err, test.want)
		}
	}
}

// Clients beyond this machine are refused before anything else.
func TestForeignAddress(t *testing.T) {
	s, _, err := start(t, Config{User: "u", Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	var w recorder
	s.ServeHTTP(&w, &http.Request{
		Method: http.MethodPost, RequestURI: "/", RemoteAddr: "192.0.2.7:1", Header: http.Header{},
	})
	if w.status != http.StatusForbidden || w.Len() > 0 {
		t.Errorf("got %d %s", w.status, w.String())
	}
}

type recorder struct {
	bytes.Buffer
	header http.Header
	status int
}

func (r *recorder) Header() http.Header {
	if r.header == nil {
		r.header = http.Header{}
	}
	return r.header
}

func (r *recorder) WriteHeader(status int) { r.status = status }

func TestHeadIsMended(t *testing.T) {
	const refused = headRefused
	for sent, want := range map[string]string{
		"POST / HTTP/1.1\r\nA: b\r\n\r\n":               "POST / HTTP/1.1\r\nA: b\r\nHost: \r\n\r\n",
		"POST / HTTP/1.1\nA: b\n\n":                     "POST / HTTP/1.1\nA: b\nHost: \r\n\r\n",
		"POST / HTTP/1.1\r\nhOST: x\r\n\r\n\r\n":        "POST / HTTP/1.1\r\nhOST: x\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n": "POST / HTTP/1.1\r\nHost: a\r\n\r\n",
		"POST /%zz%41% HTTP/1.1\r\nHost: <zz\r\n\r\n":   "POST /%25zz%41%25 HTTP/1.1\r\nHost: -\r\n\r\n",
		"POST /a b\x01 HTTP/1.1\r\nHost:\r\n\r\n":       "POST /a%20b%01 HTTP/1.1\r\nHost:\r\n\r\n",
		// Headers that nobody reads.
		"GET / HTTP/1.1\r\nHost:\r\n\xc3\xa4: d\r\ne: \x01\r\nf: \x00\r\n\r\n": "GET / HTTP/1.1\r\nHost:\r\n\r\n",
		// The same on the second request, with a body before it.
		"POST / HTTP/1.1\r\nHost:\r\nContent-Length: 4\r\n\r\nbody" + "GET /a b HTTP/1.1\r\n\r\n": "POST / HTTP/" +
			"1.1\r\nHost:\r\nContent-Length: 4\r\n\r\nbody" + "GET /a%20b HTTP/1.1\r\nHost: \r\n\r\n",
		"POST / HTTP/1.1\r\nHost:\r\nTransfer-Encoding: Chunked\r\n\r\n04 " +
			"\r\nbody\r\n0\r\nA: b\r\n\r\n\r\nGET / HTTP/1.1\r\n\r\n": "POST / HTTP/1.1\r\nHost:\r\nTransfer-Encoding: " +
			"Chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: \r\n\r\n",
		// Refused requests.
		"\r\n\r\n":   refused,
		"no end\r\n": "",
		strings.Repeat("x", 3*maxHead) + "\r\n\r\n":                                           refused,
		"GET / HTTP/1.1\r\nHost\x00: x\r\n\r\n":                                               refused,
		"GET / HTTP/1.1\r\n\x00A: x\r\n\r\n":                                                  refused,
		"GET / HTTP/1.1\r\nno colon\r\n\r\n":                                                  refused,
		"GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n":                                           refused,
		"GET / HTTP/1.1\r\nA: b\r\n\tfolded: c\r\n\r\n":                                       refused,
		"GET / HTTP/1.1\r\n: a\r\n\r\n":                                                       refused,
		"GET / HTTP/1.1\r\na b: c\r\n\r\n":                                                    refused,
		"GET / HTTP/1.1\r\na : c\r\n\r\n":                                                     refused,
		"GET / HTTP/1.1\r\n folded: a\r\n\r\n":                                                refused,
		"GET / HTTP/1.1\r\nA: b\rc\r\n\r\n":                                                   refused,
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":                                                    refused,
		"GET /\r\n\r\n":                                                                       refused,
		"GET /\x00 HTTP/1.1\r\n\r\n":                                                          refused,
		"POST / HTTP/1.1\r\nContent-Length: +4\r\n\r\n":                                       refused,
		"POST / HTTP/1.1\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n":                   refused,
		"POST / HTTP/1.1\r\nContent-Length : 4\r\n\r\n":                                       refused,
		"POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n":          refused,
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n":          refused,
		"POST / HTTP/1.1\r\nTransfer-Encoding: identity\r\nContent-Length: 4\r\n\r\n":         refused,
		"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n":                         refused,
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n": refused,
		"POST / HTTP/1.1\r\nTransfer-Encoding\t: chunked\r\n\r\n":                             refused,
		"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n":                               refused,
	} {
		for _, piece := range []int{1, 7, len(sent)} {
			ours, theirs := net.Pipe()
			go func() {
				for part := range slices.Chunk([]byte(sent), piece) {
					if _, err := theirs.Write(part); err != nil {
						break
					}
				}
				_ = theirs.Close()
			}()
			got, err := io.ReadAll(&headConn{Conn: ours})
			_ = ours.Close()
			if err != nil || string(got) != want {
				t.Errorf("%.80q in pieces of %d:\ngot  %.120q, %v\nwant %.120q", sent, piece, got, err, want)
			}
		}
	}
}

// FuzzAnswer: whatever the body is, the reply is JSON, or nothing with a
// status that allows it.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `[]`, `[{}]`, `{"jsonrpc":"2.0","method":"echo"}`, `{"jsonrpc":"2.0","method":"echo",` +
			`"params":["\ud83d\ude00",1.0],"id":{"a":[]}}`,
		`[{"method":"echo","id":"x"},5,{"jsonrpc":"2.0","method":"echo"},7]`, `{"jsonrpc":"3.0","id":-0}`,
	} {
		f.Add([]byte(seed))
	}
	s, err := NewServer(Config{})
	if err != nil {
		f.Fatal(err)
	}
	defer s.Shutdown(context.Background())
	table, err := command.NewTable([]command.Command{{
		Name:   "echo",
		Params: []command.Param{{Name: "x", Type: command.String, Optional: true, AnyType: true}},
		Run:    func(_ context.Context, a *command.Args) (any, error) { return a.Value(0), nil },
	}})
	if err != nil {
		f.Fatal(err)
	}
	s.Ready(table)
	f.Fuzz(func(t *testing.T, body []byte) {
		r := s.answer(t.Context(), command.Caller{}, rpcauth.Whitelist{}, body)
		defer r.held.release()
		if r.length() == 0 {
			if r.status != http.StatusNoContent {
				t.Errorf("%q: empty reply with status %d", body, r.status)
			}
			return
		}
		v, err := jsontree.Parse(bytes.Join(r.body, nil))
		if err != nil || v.Kind() != jsontree.Object && v.Kind() != jsontree.Array {
			t.Errorf("%q: reply %q", body, r.body)
		}
	})
}

// Verbs that nothing answers, and ids of calls in the log, depend on the version spoken as.
func TestStyles(t *testing.T) {
	for reference, want := range map[int]string{30: "501 method=quick user=u\"", 32: "405 method=quick user=u id=1\""} {
		var log safeBuffer
		s := startServer(t, Config{
			User: "u", Password: "p", HTTP: dialect.HTTPOf(reference),
			Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
		s.Ready(blockerTable(t, newBlocker()))
		c := newClient(t, s)
		c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`)
		url := "http://" + s.Addrs()[0].String() + "/"
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = reply.Body.Close()
		status, line, _ := strings.Cut(want, " ")
		if reply.Status[:3] != status || !strings.Contains(log.String(), line) {
			t.Errorf("%d: %s, logged\n%s", reference, reply.Status, log.String())
		}
	}
}

// The log has the address of a caller only where the operator wants addresses.
func TestLogIPs(t *testing.T) {
	for _, wanted := range []bool{false, true} {
		var log safeBuffer
		s := startServer(t, Config{
			User: "u", Password: "p", LogIPs: wanted,
			Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
		s.Ready(blockerTable(t, newBlocker()))
		newClient(t, s).want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`)
		if got := strings.Contains(log.String(), "ThreadRPCServer method=quick user=u peeraddr="); got != wanted {
			t.Errorf("LogIPs %v, logged\n%s", wanted, log.String())
		}
	}
}
