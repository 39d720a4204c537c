package metrics_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/seed61375155/trawl/internal/metrics"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc"
)

// start has an exporter scraped until the test ends.
func start(t *testing.T, e *metrics.Exporter) (addr string) {
	t.Helper()
	server, err := e.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return server.Addr().String()
}

// request returns status and body.
func request(t *testing.T, method, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// scrape returns the metrics of an address, by name.
func scrape(t *testing.T, addr string) map[string]*dto.MetricFamily {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status, err)
	}
	return families
}

// complete returns an exporter that shows everything that there is.
func complete() *metrics.Exporter {
	e := metrics.New(slog.New(slog.DiscardHandler), "1.2.3")
	e.AddServer(func() rpc.Load { return rpc.Load{Running: 1, Queued: 2, Waiting: 3, Conns: 4, Streams: 5} })
	e.AddNode(func(context.Context) messages.NodeStats { return full() })
	e.Observer().Called("getblock", time.Second, true)
	e.Observer().Called("", time.Second, true)
	e.Observer().Replied(http.StatusOK)
	e.Observer().Replied(http.StatusTeapot)
	return e
}

// secret is in each text that somebody chooses.
const secret = "mark-of-a-name"

// full has each number that there is.
func full() messages.NodeStats {
	warnings := 2
	return messages.NodeStats{
		Actors: []messages.PartStats{{Part: "chain", ActorStats: messages.ActorStats{
			Actors: 1, Messages: 20, Restarts: 3, Busy: 4 * time.Second, Queue: 5, Calls: 6, Waiting: 7,
			Current: 8 * time.Second,
		}}, {Part: "wallet"}},
		Chain: &messages.ChainStats{
			Height: 100, Headers: 110,
			Branches: 2, Initial: true, TipTime: time.Unix(1e3, 0),
		},
		Warnings: &warnings,
		Indexes:  []messages.IndexStats{{Name: "indexer", IndexStatus: messages.IndexStatus{Synced: true, Height: 99}}},
		Matching: &messages.MatchStats{Running: 1, Passes: 2, Filters: 3, Damaged: 4},
		Scan:     &messages.ScanStatus{Running: true, Height: 50, Progress: 25},
		Searches: &messages.SearchStats{
			States: map[messages.SearchState]int{messages.SearchRunning: 1}, Scripts: 2, Entries: 3, Rate: 4,
		},
		Peers: &messages.NetworkState{
			Peers: messages.PeerCount{In: 3, Out: 8}, Sent: 5, Received: 6,
			Networks: []messages.NetworkUse{{Name: secret, Proxy: secret}},
			Local:    []messages.LocalAddress{{Host: secret}},
			Archives: messages.ArchiveCount{Offering: 3, Configured: 2, Reached: 1},
		},
		Pool: &messages.PoolInfo{
			Loaded: true, Size: 10, VSize: 11, Usage: 12, Fees: 13, MaxBytes: 14, MinFee: 15, Unbroadcast: 16,
		},
		Copied:  &messages.CopiedPool{Txs: 1, Missing: 2, Updated: time.Unix(500, 0), Reason: secret},
		Wallets: &messages.WalletStats{Loaded: 2, Loading: 1},
		Stale: &messages.StaleStats{
			Events: 8, StaleEvents: 2, Connected: 9, Stale: 3, Reorgs: 1, DeepestFork: 2, Alarm: true,
		},
		Attached: &messages.AttachState{
			Phase: messages.AttachAway, Reason: secret, Lag: 3,
			Node:    messages.AttachedNode{Address: secret, Subversion: secret},
			Sources: []messages.AttachSource{{Name: "rpc", Blocks: 1}, {Name: secret, Blocks: 1}},
		},
		Stores: []messages.StoreStats{{Name: "blocks", Bytes: 1000}},
		Late:   []messages.LatePart{{Part: "mempool", Late: true}, {Part: "peers"}},
	}
}
