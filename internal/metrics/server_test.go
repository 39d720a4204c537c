package metrics_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/metrics"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc"
)

// One path is answered, and read only.
func TestPaths(t *testing.T) {
	addr := start(t, complete())
	for _, step := range []struct {
		method, path string
		want         int
	}{
		{"GET", "/metrics", 200},
		{"HEAD", "/metrics", 200},
		{"POST", "/metrics", 405},
		{"GET", "/", 404},
		{"GET", "/metrics/", 404},
		{"GET", "/debug/pprof/", 404},
	} {
		if got, _ := request(t, step.method, "http://"+addr+step.path); got != step.want {
			t.Errorf("%s %s: %d, want %d", step.method, step.path, got, step.want)
		}
	}
}

// Four scrapes are answered at a time; the fifth is refused, and one is answered again when
// one of the four is done.
func TestFifthScrapeIsRefused(t *testing.T) {
	began, free := make(chan struct{}), make(chan struct{})
	e := metrics.New(slog.New(slog.DiscardHandler), "x")
	e.AddNode(func(context.Context) messages.NodeStats {
		began <- struct{}{}
		<-free
		return messages.NodeStats{}
	})
	url := "http://" + start(t, e) + "/metrics"
	var four sync.WaitGroup
	for range 4 {
		four.Go(func() {
			if got, _ := request(t, "GET", url); got != 200 {
				t.Errorf("one of four: %d", got)
			}
		})
		<-began
	}
	if got, _ := request(t, "GET", url); got != 503 {
		t.Errorf("the fifth: %d", got)
	}
	close(free)
	four.Wait()
	go func() { <-began }()
	if got, _ := request(t, "GET", url); got != 200 {
		t.Errorf("afterwards: %d", got)
	}
}

// A scrape gives the node one second to answer.
func TestPatience(t *testing.T) {
	e := metrics.New(slog.New(slog.DiscardHandler), "x")
	e.AddNode(func(ctx context.Context) messages.NodeStats {
		deadline, ok := ctx.Deadline()
		if left := time.Until(deadline); !ok || left > time.Second {
			t.Errorf("there are %v", left)
		}
		return messages.NodeStats{}
	})
	if got, _ := request(t, "GET", "http://"+start(t, e)+"/metrics"); got != 200 {
		t.Error(got)
	}
}

// A node that has nothing to tell of a part, for want of it, is shown without that.
func TestNothing(t *testing.T) {
	var mu sync.Mutex
	var log bytes.Buffer
	e := metrics.New(slog.New(slog.NewTextHandler(locked{&mu, &log}, nil)), "x")
	e.AddNode(func(context.Context) messages.NodeStats { return messages.NodeStats{} })
	status, body := request(t, "GET", "http://"+start(t, e)+"/metrics")
	mu.Lock()
	defer mu.Unlock()
	shown := strings.Contains(body, "trawl_peers") || strings.Contains(body, "trawl_searches")
	if status != 200 || shown || log.Len() > 0 {
		t.Errorf("%d %s\nthe log: %s", status, body, &log)
	}
}

// A panic while numbers are read is logged, and costs these numbers alone.
func TestPanic(t *testing.T) {
	var mu sync.Mutex
	var log bytes.Buffer
	e := metrics.New(slog.New(slog.NewTextHandler(locked{&mu, &log}, nil)), "x")
	e.AddServer(func() rpc.Load { return rpc.Load{Running: 7} })
	e.AddNode(func(context.Context) messages.NodeStats { panic("boom") })
	status, body := request(t, "GET", "http://"+start(t, e)+"/metrics")
	if status != 200 || !strings.Contains(body, "\ntrawl_rpc_running_calls 7\n") || strings.Contains(body, "trawl_chain") {
		t.Errorf("%d %s", status, body)
	}
	mu.Lock()
	defer mu.Unlock()
	if !strings.Contains(log.String(), "boom") {
		t.Errorf("the log: %s", &log)
	}
}

type locked struct {
	mu *sync.Mutex
	to *bytes.Buffer
}

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(p)
}

// Before there is a node, and where it tells nothing, the rest is shown.
func TestWithoutNode(t *testing.T) {
	e := metrics.New(slog.New(slog.DiscardHandler), "x")
	e.AddNode(func(context.Context) messages.NodeStats { return messages.NodeStats{} })
	families := scrape(t, start(t, e))
	for _, name := range []string{
		"go_goroutines", "go_sched_latencies_seconds", "trawl_build_info", "trawl_rpc_http_replies_total",
	} {
		if families[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
	if families["trawl_chain_height_blocks"] != nil || families["trawl_peers"] != nil {
		t.Error("a number of nothing")
	}
}

// An address that is taken is an error.
func TestAddressIsTaken(t *testing.T) {
	e := metrics.New(slog.New(slog.DiscardHandler), "x")
	if _, err := e.Listen(t.Context(), start(t, e)); err == nil {
		t.Error("listens twice")
	}
}

// A server that never served can be stopped.
func TestShutdownBeforeServe(t *testing.T) {
	server, err := metrics.New(slog.New(slog.DiscardHandler), "x").Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := server.Serve(); err != nil {
		t.Error(err)
	}
}

// Scrapes that take longer than a stop may are cut off.
func TestShutdownCutsOff(t *testing.T) {
	hold, began := make(chan struct{}), make(chan struct{})
	e := metrics.New(slog.New(slog.DiscardHandler), "x")
	e.AddNode(func(context.Context) messages.NodeStats {
		close(began)
		<-hold
		return messages.NodeStats{}
	})
	server, err := e.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	answered := make(chan error, 1)
	go func() {
		answer, err := http.Get("http://" + server.Addr().String() + "/metrics") //nolint:noctx // it is cut off
		if err == nil {
			_ = answer.Body.Close()
		}
		answered <- err
	}()
	<-began
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := server.Shutdown(ended); err != nil {
		t.Error(err)
	}
	if err := <-answered; err == nil {
		t.Error("the scrape was answered")
	}
	close(hold)
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// Clients that say nothing keep no scrape out: the oldest give way.
func TestSilentClients(t *testing.T) {
	addr := start(t, metrics.New(slog.New(slog.DiscardHandler), "x"))
	for range 3 * metrics.MaxConns {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	began := time.Now()
	if status, _ := request(t, "GET", "http://"+addr+"/metrics"); status != 200 {
		t.Errorf("status %d", status)
	}
	if took := time.Since(began); took > 4*time.Second { // silent clients are cut off after five
		t.Errorf("the scrape took %v", took)
	}
}

// A web page from elsewhere reads no numbers, under its own name neither. Programs may use any name.
func TestForeignPages(t *testing.T) {
	e := metrics.New(slog.New(slog.DiscardHandler), "x")
	e.Hosts = rpc.Hosts{"node.example"}
	addr := start(t, e)
	for _, test := range []struct {
		host   string
		header http.Header
		want   int
	}{
		{"", http.Header{"User-Agent": {"Prometheus/3.5.0"}}, http.StatusOK},
		{"trawl:9332", http.Header{"User-Agent": {"Prometheus/3.5.0"}}, http.StatusOK},
		{"", http.Header{"User-Agent": {"Mozilla/5.0"}, "Accept-Language": {"en"}}, http.StatusOK},
		{"node.example:9332", http.Header{"Accept-Language": {"en"}}, http.StatusOK},
		{"evil.example:9332", http.Header{"Accept-Language": {"en"}}, http.StatusForbidden},
		{"", http.Header{"Origin": {"http://evil.example"}}, http.StatusForbidden},
		{"", http.Header{"Sec-Fetch-Site": {"cross-site"}}, http.StatusForbidden},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/metrics", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Host, r.Header = test.host, test.header
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != test.want {
			t.Errorf("%q %v: %d, want %d", test.host, test.header, resp.StatusCode, test.want)
		}
	}
}
