package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
	"github.com/seed61375155/trawl/internal/metrics"
	"github.com/seed61375155/trawl/rpc"
)

const (
	// scrapePause lies between two scrapes; Prometheus makes one in 15 or 60 seconds.
	scrapePause = time.Second

	// metricsRound is how long each contender calls in a round, so that some scrapes fall in it.
	metricsRound = 3 * time.Second
)

// BenchmarkMetrics measures what metrics cost a scan of the whole chain. It makes the same
// call in turn to a server without metrics, and to a server whose metrics are scraped every
// second meanwhile. It also measures a scrape by itself.
func BenchmarkMetrics(b *testing.B) {
	p := open(b, node(filepath.Join(folder(b), "trawl"), 0))
	s := newScraped(b, p.node)
	for _, call := range scanCalls(b) {
		if !strings.HasPrefix(call.name, "k=") || call.check {
			continue
		}
		b.Run(call.name, func(b *testing.B) {
			plain, watched := call.contest(b, p).whole, call.contest(b, s.peer).whole
			scan := watched.run
			watched.run = func() error { return s.beside(b.Context(), scan) }
			restore := asDaemon()
			defer restore()
			for _, c := range []*contender{plain, watched} {
				began := time.Now()
				if err := c.run(); err != nil {
					b.Fatal(err)
				}
				c.calls = int(metricsRound/max(time.Since(began), 1)) + 1
			}
			watched.calls = plain.calls
			for range rounds() {
				for _, c := range []*contender{plain, watched} {
					if err := c.measure(); err != nil {
						b.Fatal(err)
					}
				}
			}
			for b.Loop() {
				continue // was measured
			}
			b.ReportMetric(milliseconds(watched.median()), "ms")
			b.ReportMetric(milliseconds(plain.median()), "plain-ms")
			b.ReportMetric(100*ratio(watched.median(), plain.median())-100, "more-%")
			b.ReportMetric(100*ratio(watched.cpu, plain.cpu)-100, "more-cpu-%")
			reportLoad(b)
		})
	}
	b.Run("scrape", func(b *testing.B) {
		var size int64
		for b.Loop() {
			n, err := s.scrape(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			size = n
		}
		b.ReportMetric(float64(size)/1000, "kB")
	})
}

// scraped is a node whose calls are watched and whose metrics are scraped.
type scraped struct {
	peer *peer
	addr string
	last time.Time
}

func newScraped(b *testing.B, n *trawl.Node) *scraped {
	b.Helper()
	e := metrics.New(slog.New(slog.DiscardHandler), "bench")
	e.AddNode(n.Stats)
	table, err := n.Methods(trawl.Host{Stop: func() {}, Started: time.Now()})
	if err != nil {
		b.Fatal(err)
	}
	calls, err := rpc.NewServer(rpc.Config{User: "bench", Password: "bench", Observer: e.Observer()})
	if err != nil {
		b.Fatal(err)
	}
	calls.Ready(table)
	e.AddServer(func() rpc.Load { return rpc.LoadOf(calls) })
	scrapes, err := e.Listen(b.Context(), "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 2)
	go func() { ended <- calls.Serve() }()
	go func() { ended <- scrapes.Serve() }()
	client := jsonrpc.New(calls.Addrs()[0].String(), login)
	b.Cleanup(func() {
		client.Close()
		ctx := context.Background() // the benchmark's has ended by now
		if err := errors.Join(calls.Shutdown(ctx), scrapes.Shutdown(ctx), <-ended, <-ended); err != nil {
			b.Error(err)
		}
	})
	return &scraped{peer: &peer{Client: client, node: n}, addr: scrapes.Addr().String()}
}

// beside calls, and makes the scrape that is due meanwhile.
func (s *scraped) beside(ctx context.Context, call func() error) error {
	var scraping sync.WaitGroup
	var failed error
	if time.Since(s.last) >= scrapePause {
		s.last = time.Now()
		scraping.Go(func() { _, failed = s.scrape(ctx) })
	}
	err := call()
	scraping.Wait()
	return errors.Join(err, failed)
}

// scrape returns how many bytes it got.
func (s *scraped) scrape(ctx context.Context) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("scrape: %s", answer.Status)
	}
	return io.Copy(io.Discard, answer.Body)
}
