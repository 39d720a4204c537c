package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
	"github.com/seed61375155/trawl/internal/part"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc"
)

var errWrongAnswer = errors.New("the answer differs from the oracle's")

const (
	login = "bench:bench"

	// loadPatience is how long the loading of a chain may take.
	loadPatience = time.Hour
)

// A peer is a node that answers over HTTP.
type peer struct {
	*jsonrpc.Client
	node *trawl.Node // nil when it is another program
	stop func()
}

// A starter starts a node that imports the given files.
type starter func(tb testing.TB, loadBlock ...string) *peer

// open is loaded for a node that stops with the benchmark.
func open(tb testing.TB, start starter) *peer {
	tb.Helper()
	p := loaded(tb, start)
	tb.Cleanup(p.stop)
	return p
}

// loaded starts a node whose chain is loaded and indexed; where it is not yet,
// that is done now.
func loaded(tb testing.TB, start starter) *peer {
	tb.Helper()
	p := start(tb)
	if p.height(tb) < *flagBlocks {
		p.stop()
		p = start(tb, blockFile(tb))
	}
	p.waitLoaded(tb)
	return p
}

func (p *peer) height(tb testing.TB) (height int) {
	tb.Helper()
	p.mustCall(tb, &height, "getblockcount")
	return height
}

// mustCall makes a call a second and a third time if it fails, as when the server
// gave a connection up on which nothing came.
func (p *peer) mustCall(tb testing.TB, result any, method string) {
	tb.Helper()
	var err error
	for range 3 {
		if err = p.Call(tb.Context(), result, method); err == nil {
			return
		}
	}
	tb.Fatal(err)
}

// indexed returns the height of the index, -1 when it has not begun or lags.
func (p *peer) indexed(tb testing.TB) int {
	tb.Helper()
	var info map[string]struct {
		Synced bool `json:"synced"`
		Height int  `json:"best_block_height"`
	}
	p.mustCall(tb, &info, "getindexinfo")
	if i := info["basic block filter index"]; i.Synced {
		return i.Height
	}
	return -1
}

// laid reports whether all filters have their probe lines.
func (p *peer) laid(tb testing.TB) bool {
	tb.Helper()
	if p.node == nil {
		return true
	}
	status, err := trawl.Ask(tb.Context(), p.node.Indexer(), messages.GetIndexStatus{})
	if err != nil {
		tb.Fatal(err)
	}
	return status.WithoutProbes == 0
}

// waitLoaded waits for the last block and its filter, and says how far it is.
func (p *peer) waitLoaded(tb testing.TB) {
	tb.Helper()
	began := time.Now()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for shown := began; time.Since(began) < loadPatience; <-ticker.C {
		height := p.height(tb)
		if height >= *flagBlocks && p.indexed(tb) >= *flagBlocks && p.laid(tb) {
			return
		}
		if time.Since(shown) > 10*time.Second {
			shown = time.Now()
			fmt.Fprintf(os.Stderr, "loading: block %d of %d after %.0f s\n", height, *flagBlocks, time.Since(began).Seconds())
		}
	}
	tb.Fatal("the chain did not load in time")
}

// node returns the starter of a node in this process, with a data directory
// and a number of workers.
func node(dir string, workers int) starter {
	return func(tb testing.TB, loadBlock ...string) *peer {
		tb.Helper()
		threads := cores.NewWorkerThreads() // as trawld has them
		tb.Cleanup(threads.Close)
		n, err := trawl.Open(part.WithKnobs(tb.Context(), part.Knobs{FilterKernel: *flagKernel}), trawl.Config{
			Dir: dir, Chain: "regtest", BlockFilterIndex: true, Workers: workers, StartWorker: threads.Start,
			FilterLayout: *flagLayout, LoadBlock: loadBlock, Wallets: &trawl.WalletConfig{},
		})
		if err != nil {
			tb.Fatal(err)
		}
		return serve(tb, n)
	}
}

// asDaemon gives Go as many processors as trawld does, until restore is called;
// package testing gives each benchmark others.
func asDaemon() (restore func()) {
	before := runtime.GOMAXPROCS(0)
	cores.AddHeadroom()
	return func() { runtime.GOMAXPROCS(before) }
}

// serve makes a node answer over HTTP.
func serve(tb testing.TB, n *trawl.Node) *peer {
	tb.Helper()
	table, err := n.Methods(trawl.Host{Stop: func() {}, Started: time.Now()})
	if err != nil {
		tb.Fatal(err)
	}
	server, err := rpc.NewServer(rpc.Config{User: "bench", Password: "bench"})
	if err != nil {
		tb.Fatal(err)
	}
	server.Ready(table)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve() }()
	client := jsonrpc.New(server.Addrs()[0].String(), login)
	return &peer{Client: client, node: n, stop: func() {
		client.Close()
		ctx := context.Background() // the benchmark's has ended by now
		if err := errors.Join(server.Shutdown(ctx), <-ended, n.Close(ctx)); err != nil {
			tb.Error(err)
		}
	}}
}
