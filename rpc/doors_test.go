package rpc

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/rpc/command"
)

// A waiter is a method that waits for what never comes.
func waiterTable(t *testing.T, began chan<- struct{}, ended *atomic.Int64) *command.Table {
	t.Helper()
	table, err := command.NewTable(newBlocker().commands(), []command.Command{
		{
			Name: "wait", Waits: func(*command.Args) bool { return true },
			Run: func(ctx context.Context, _ *command.Args) (any, error) {
				began <- struct{}{}
				<-ctx.Done()
				ended.Add(1)
				return "over", nil
			},
		},
		{Name: "large", Run: func(context.Context, *command.Args) (any, error) {
			return strings.Repeat("x", 10_000),
				nil
		}},
		{
			Name: "large status", Control: func(*command.Args) bool { return true },
			Run: func(context.Context, *command.Args) (any, error) {
				return strings.Repeat("x", 10_000), nil
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Calls that wait, alone or in a batch, keep no worker from others, and end with
// their clients.
func TestWaitingCallsHoldNobodyUp(t *testing.T) {
	const waiting = 40
	began, ended := make(chan struct{}, waiting), atomic.Int64{}
	s := startServer(t, Config{User: "u", Password: "p", Threads: 2, WorkQueue: waiting - 2})
	table := waiterTable(t, began, &ended)
	s.Ready(table)
	ctx, leave := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	for i := range waiting {
		c, body := newClient(t, s), v2Call("wait")
		if i%2 == 1 {
			body = "[" + v2Call("status") + "," + body + "]"
		}
		calls.Go(func() {
			for { // a batch may meet a full queue
				got, err := c.post(ctx, "/", "u:p", body)
				if !strings.HasPrefix(got, "503") {
					if !errors.Is(err, context.Canceled) {
						t.Errorf("got %s, %v", got, err)
					}
					return
				}
			}
		})
	}
	for range waiting {
		<-began
	}
	c := newClient(t, s)
	c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`)
	c.want(t, v2Call("wait"), "503 Work queue depth exceeded")
	c.want(t, "["+v2Call("quick")+","+v2Call("wait")+"]",
		`200 [{"jsonrpc":"2.0","result":1,"id":1},{"jsonrpc":"2.0","error":{"code":-7,"message":"Work queue depth exceeded"},"id":1}]`)
	leave()
	calls.Wait()
	waitFor(t, func() bool {
		return ended.Load() == waiting && len(table.Active()) == 0 && len(s.workers.running) == 0 &&
			len(s.workers.idle) == 0
	})
	c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`)
}

// Calls that have given their workers back, as many as may wait, keep none from others.
func TestReleasedWorkers(t *testing.T) {
	const waiting = 4 // one more than places among those that wait
	began, goOn := make(chan struct{}, waiting), make(chan struct{})
	table, err := command.NewTable(newBlocker().commands(), []command.Command{{
		Name: "commit", Run: func(ctx context.Context, _ *command.Args) (any, error) {
			command.ReleaseWorker(ctx)
			command.ReleaseWorker(ctx)
			began <- struct{}{}
			<-goOn
			return "durable", nil
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := startServer(t, Config{User: "u", Password: "p", Threads: 2, WorkQueue: 1})
	s.Ready(table)
	var calls sync.WaitGroup
	for range waiting {
		c := newClient(t, s)
		calls.Go(func() { c.want(t, v2Call("commit"), `200 {"jsonrpc":"2.0","result":"durable","id":1}`) })
		<-began
	}
	if running, idle := len(s.workers.running), len(s.workers.idle); running != 1 || idle != 3 {
		t.Errorf("%d workers are taken, and %d places among those that wait", running, idle)
	}
	c := newClient(t, s)
	c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`)
	c.want(t, "["+v2Call("quick")+"]", `200 [{"jsonrpc":"2.0","result":1,"id":1}]`)
	close(goOn)
	calls.Wait()
	waitFor(t, func() bool { return len(s.workers.running) == 0 && len(s.workers.idle) == 0 })
}

// A batch that waits when the server stops is answered, and gives no worker back
// that it has not.
func TestShutdownEndsWaitingBatch(t *testing.T) {
	began, ended := make(chan struct{}, 1), atomic.Int64{}
	s := startServer(t, Config{User: "u", Password: "p", Threads: 1})
	s.Ready(waiterTable(t, began, &ended))
	c := newClient(t, s)
	var call sync.WaitGroup
	call.Go(func() {
		c.want(t, "["+v2Call("quick")+","+v2Call("wait")+","+v2Call("status")+"]",
			`200 [{"jsonrpc":"2.0","result":1,"id":1},{"jsonrpc":"2.0","result":"over","id":1},{"jsonrpc":"2.0","result":"fine","id":1}]`)
	})
	<-began
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	call.Wait()
	if n := len(s.workers.running); n != 0 {
		t.Errorf("%d workers are taken", n)
	}
}

// Long batches take workers, however little their calls are, and the memory for
// their replies is taken while they are built.
func TestBatchesAreCounted(t *testing.T) {
	const limit = 1_000_000
	s := startServer(t, Config{User: "u", Password: "p", Threads: 4, WorkQueue: 100})
	s.replies.limit = limit
	s.Ready(waiterTable(t, nil, nil))
	batch := "[" + strings.Repeat(v2Call("large status")+",", 99) + v2Call("large status") + "]"
	most, stop := int64(0), make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				most = max(most, s.replies.used.Load())
			}
		}
	})
	var calls sync.WaitGroup
	refused := atomic.Int64{}
	for range 8 {
		c := newClient(t, s)
		calls.Go(func() {
			got, err := c.post(t.Context(), "/", "u:p", batch)
			if n := strings.Count(got, `"id":1`); err != nil || n != 100 || !strings.HasPrefix(got, "200 [{") ||
				!strings.HasSuffix(got, "}]") {
				t.Errorf("%d answers, %v: %.100s", n, err, got)
			}
			refused.Add(int64(strings.Count(got, `"code":-7,"message":"Too many large replies at a time"`)))
		})
	}
	calls.Wait()
	close(stop)
	watch.Wait()
	if most == 0 || refused.Load() == 0 {
		t.Errorf("%d bytes were counted, %d calls refused", most, refused.Load())
	}
	waitFor(t, func() bool { return s.replies.used.Load() == 0 })
	for range 4 {
		s.workers.running <- struct{}{}
	}
	for range 100 {
		s.workers.waiting <- struct{}{}
	}
	newClient(t, s).want(t, batch, "503 Work queue depth exceeded")
}

// A reply to a batch that leaves no memory is given up, and told of; those before
// it stand.
func TestBatchReplyBeyondTheBudget(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p"})
	s.replies.limit = 30_000
	s.Ready(waiterTable(t, nil, nil))
	got, err := newClient(t, s).post(t.Context(), "/", "u:p",
		"["+v2Call("quick")+","+v2Call("large")+","+v2Call("large")+","+v2Call("large")+","+v2Call("large")+"]")
	if err != nil || !strings.HasPrefix(got, `200 [{"jsonrpc":"2.0","result":1,"id":1},{"jsonrpc":"2.0","result":"xxx`) ||
		!strings.HasSuffix(got, `{"jsonrpc":"2.0","error":{"code":-7,"message":"Too many large replies at a time"},"id":1}]`) {
		t.Errorf("got %.100s … %.200s, %v", got, got[max(0, len(got)-200):], err)
	}
}

// Each request of a connection is taken as the first: what Core takes, and
// nothing that could be read in two ways.
func TestKeptConnection(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p", HTTP: dialect.HTTPOf(dialect.Core30)})
	s.Ready(blockerTable(t, newBlocker()))
	const body = `{"method":"quick"}`
	login := strings.TrimPrefix(head("u:p", ""), "POST / HTTP/1.1\r\nHost: x\r\n")
	plain := "POST / HTTP/1.1\r\n" + login + "Content-Length: 18\r\n\r\n" + body
	for name, test := range map[string]struct{ second, want string }{
		"without Host":        {plain, "200 200 open"},
		"space in the path":   {strings.Replace(plain, "POST / ", "POST /wallet/a b ", 1), "200 200 open"},
		"an odd name":         {strings.Replace(plain, "HTTP/1.1\r\n", "HTTP/1.1\r\n\xff: e\r\n", 1), "200 200 open"},
		"a name with a blank": {strings.Replace(plain, "HTTP/1.1\r\n", "HTTP/1.1\r\nb c: d\r\n", 1), "200 400 closed"},
		"a lone return":       {strings.Replace(plain, "Content-Length", "\r\r\nContent-Length", 1), "200 400 closed"},
		"two Hosts":           {strings.Replace(plain, "HTTP/1.1\r\n", "HTTP/1.1\r\nHost: <>\r\nHost: y\r\n", 1), "200 200 open"},
		"two lengths":         {strings.Replace(plain, "\r\n\r\n", "\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 1), "200 400 closed"},
		"two lengths, other":  {strings.Replace(plain, "HTTP/1.1\r\n", "HTTP/1.1\r\nTransfer-Encoding: chunked\r\n", 1), "200 400 closed"},
		"chunks": {strings.Replace(plain, "Content-Length: 18\r\n\r\n"+body,
			"Transfer-Encoding: chunked\r\n\r\n12\r\n"+body+"\r\n0\r\n\r\n", 1), "200 200 open"},
		"chunk extension": {strings.Replace(plain, "Content-Length: 18\r\n\r\n"+body,
			"Transfer-Encoding: chunked\r\n\r\n12;a=b\r\n"+body+"\r\n0\r\n\r\n", 1), "200 413 closed"},
		"HTTP/2": {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "200 400 closed"},
		"head too long": {strings.Replace(plain, "HTTP/1.1\r\n", "HTTP/1.1\r\nA: "+strings.Repeat("b", maxHead)+"\r\n",
			1), "200 400 closed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, s)
			if _, err := io.WriteString(c, plain+test.second); err != nil {
				t.Fatal(err)
			}
			// A third request tells whether the connection is open.
			_, _ = io.WriteString(c, "HEAD /x HTTP/1.1\r\nConnection: close\r\n\r\n")
			all, _ := io.ReadAll(c)
			var got strings.Builder
			end := "closed"
			for _, answer := range strings.Split(string(all), "HTTP/1.1 ")[1:] {
				if answer[:3] == "404" {
					end = "open"
				} else {
					got.WriteString(answer[:3] + " ")
				}
			}
			if got.WriteString(end); got.String() != test.want {
				t.Errorf("got %s\n%q", got.String(), all)
			}
		})
	}
}

// A request that comes while another is answered, in whatever pieces, waits for
// its turn.
func TestPipelinedPieces(t *testing.T) {
	b := newBlocker()
	s := startServer(t, Config{User: "u", Password: "p"})
	s.Ready(blockerTable(t, b))
	c := dial(t, s)
	second := head("u:p", "Content-Length: 18\r\n\r\n") + `{"method":"quick"}`
	if _, err := io.WriteString(c, head("u:p", "Content-Length: 18\r\n\r\n")+`{"method":"block"}`+second[:20]); err != nil {
		t.Fatal(err)
	}
	<-b.began
	if _, err := io.WriteString(c, second[20:40]); err != nil {
		t.Fatal(err)
	}
	close(b.free)
	if _, err := io.WriteString(c, second[40:]+"GET /x HTTP/1.1\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(c)
	if text := string(all); err != nil || strings.Count(text, "HTTP/1.1 200") != 2 ||
		strings.Count(text, "HTTP/1.1 404") != 1 {
		t.Errorf("got %q, %v", all, err)
	}
}

// A failingListener fails when it is told to.
type failingListener struct {
	net.Listener
	fail chan struct{}
}

func (failingListener) Close() error { return nil }

var errGone = errors.New("the network is gone")

func (l failingListener) Accept() (net.Conn, error) {
	<-l.fail
	return nil, errGone
}

// The failure of one listener is told at once, while the others go on.
func TestServeTellsOfTheFirstFailure(t *testing.T) {
	s, _, err := start(t, Config{User: "u", Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	s.Ready(blockerTable(t, newBlocker()))
	fail := make(chan struct{})
	s.listeners = append(s.listeners, failingListener{s.listeners[0], fail})
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	c := newClient(t, s)
	c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`)
	close(fail)
	select {
	case err := <-served:
		if !errors.Is(err, errGone) {
			t.Errorf("got %v", err)
		}
	case <-time.After(soon):
		t.Fatal("nobody is told")
	}
	c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`)
}

// A caller's text fills no more than a line of the log, and begins none.
func TestCallersTextInTheLog(t *testing.T) {
	var log safeBuffer
	s := startServer(t, Config{
		User: "u", Password: "p", Whitelist: []string{"u:quick"}, Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	s.Ready(blockerTable(t, newBlocker()))
	c := newClient(t, s)
	c.want(t, v2Call(`x\ny\\z\r`+strings.Repeat("m", 1_000_000)), "403")
	if text := log.String(); len(text) > 2000 || strings.Contains(text, "x\ny") ||
		!strings.Contains(text, `x\\ny\\\\z\\rmmm`) || !strings.Contains(text, "(1000006 bytes)") {
		t.Errorf("%d bytes: %.2000s", len(text), text)
	}
	for text, want := range map[string]string{
		"": "", "a b": "a b", "\n": `\n`, `\n`: `\\n`, strings.Repeat("x", 100): strings.Repeat("x", 100),
		strings.Repeat("é", 51):       strings.Repeat("é", 50) + "… (102 bytes)",
		"a" + strings.Repeat("é", 50): "a" + strings.Repeat("é", 49) + "… (101 bytes)",
		strings.Repeat("\xa9", 200):   strings.Repeat("\xa9", 96) + "… (200 bytes)",
	} {
		if got := shown(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
