package rpc

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// A sick node has methods about its chain and indexes that answer as the test says.
type sick struct {
	chain, indexes string
	err            error
	panics         bool
}

func (s *sick) table(t *testing.T, more ...command.Command) *command.Table {
	t.Helper()
	answer := func(reply *string) func(context.Context, *command.Args) (any, error) {
		return func(context.Context, *command.Args) (any, error) {
			if s.panics {
				return late{}, nil
			}
			if s.err != nil {
				return nil, s.err
			}
			return jsontree.Parse([]byte(*reply))
		}
	}
	table, err := command.NewTable(append(more,
		command.Command{Name: "getblockchaininfo", Run: answer(&s.chain)},
		command.Command{Name: "getindexinfo", Run: answer(&s.indexes)},
	))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// status returns the status of a request without a login, whose reply has no body.
func (c *client) status(t *testing.T, method, target string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+c.addr+target, nil)
	if err != nil {
		t.Error(err)
		return 0
	}
	answer, err := c.http.Do(request)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer answer.Body.Close()
	if answer.ContentLength != 0 && answer.StatusCode < http.StatusBadRequest {
		t.Errorf("%s has a body", target)
	}
	return answer.StatusCode
}

// A client without a login learns whether the node is ready, and nothing else.
func TestReady(t *testing.T) {
	const synced, initial = `,"initialblockdownload":false}`, `,"initialblockdownload":true}`
	const none = `{}`
	node := &sick{}
	server := startServer(t, Config{User: "u", Password: "p"})
	server.Ready(node.table(t))
	c := newClient(t, server)
	for _, step := range []struct {
		name, target   string
		chain, indexes string
		err            error
		panics         bool
		want           int
	}{
		{"at the tip", "", `{"blocks":9,"headers":9` + synced, none, nil, false, 200},
		{"any lag without a bound", "", `{"blocks":1,"headers":9` + synced, none, nil, false, 200},
		{"initial download", "", `{"blocks":9,"headers":9` + initial, none, nil, false, 503},
		{"initial download within the lag", "?maxlag=9", `{"blocks":9,"headers":9` + initial, none, nil, false, 503},
		{"does not tell", "", `{"blocks":9,"headers":9}`, none, nil, false, 503},
		{"as far behind as may be", "?maxlag=2", `{"blocks":7,"headers":9` + synced, none, nil, false, 200},
		{"further behind", "?maxlag=2", `{"blocks":6,"headers":9` + synced, none, nil, false, 503},
		{"none allowed", "?maxlag=0", `{"blocks":9,"headers":9` + synced, none, nil, false, 200},
		{"none allowed, one there", "?maxlag=0", `{"blocks":8,"headers":9` + synced, none, nil, false, 503},
		{
			"one index behind", "?maxlag=2", `{"blocks":9,"headers":9` + synced,
			`{"a":{"synced":true,"best_block_height":9},"b":{"synced":false,"best_block_height":6}}`, nil, false, 503,
		},
		{
			"index as far behind as may be", "?maxlag=2", `{"blocks":9,"headers":9` + synced,
			`{"a":{"synced":true,"best_block_height":7}}`, nil, false, 200,
		},
		{"fails", "", "", "", errors.New("broken"), false, 503},
		{"panics", "", "", "", nil, true, 503},
		{"no number", "?maxlag=x", "", "", nil, false, 400},
		{"negative", "?maxlag=-1", "", "", nil, false, 400},
		{"too large", "?maxlag=2147483648", "", "", nil, false, 400},
		{"empty", "?maxlag=", "", "", nil, false, 400},
		{"twice", "?maxlag=1&maxlag=1", "", "", nil, false, 400},
		{"something else", "?lag=1", "", "", nil, false, 400},
		{"something more", "?maxlag=1&x=1", "", "", nil, false, 400},
	} {
		node.chain, node.indexes, node.err, node.panics = step.chain, step.indexes, step.err, step.panics
		if got := c.status(t, http.MethodGet, readyPath+step.target); got != step.want {
			t.Errorf("%s: %d, want %d", step.name, got, step.want)
		}
		if got := c.status(t, http.MethodHead, readyPath+step.target); got != step.want {
			t.Errorf("%s: HEAD: %d, want %d", step.name, got, step.want)
		}
	}
}

// A node that starts or is stopped is alive or not, and not ready; paths and verbs beside those
// are as before.
func TestHealthOfStates(t *testing.T) {
	node := &sick{chain: `{"initialblockdownload":false}`}
	server := startServer(t, Config{User: "u", Password: "p"})
	c := newClient(t, server)
	want := func(method, target string, status int) {
		t.Helper()
		if got := c.status(t, method, target); got != status {
			t.Errorf("%s %s: %d, want %d", method, target, got, status)
		}
	}
	want(http.MethodGet, livePath, 200)
	want(http.MethodGet, readyPath, 503)
	server.Ready(node.table(t))
	want(http.MethodGet, livePath+"?x", 200)
	want(http.MethodGet, readyPath, 200)
	for _, target := range []string{"/health", "/health/", livePath + "/", readyPath + "2"} {
		want(http.MethodGet, target, 404)
	}
	want(http.MethodPost, livePath, 404)
	want(http.MethodPut, readyPath, 404)
	server.closing.Store(true)
	want(http.MethodGet, livePath, 503)
	want(http.MethodGet, readyPath, 503)
	server.closing.Store(false)
}

// However busy the workers are, the node is alive and ready; however many ask, callers are served.
func TestHealthBesideCalls(t *testing.T) {
	calls, node := newBlocker(), &sick{chain: `{"initialblockdownload":false}`}
	server := startServer(t, Config{User: "u", Password: "p", Threads: 1, WorkQueue: 1})
	server.Ready(node.table(t, calls.commands()...))
	c := newClient(t, server)
	var running sync.WaitGroup
	running.Go(func() { c.want(t, v2Call("block"), `200 {"jsonrpc":"2.0","result":"done","id":1}`) })
	<-calls.began
	running.Go(func() { c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`) })
	waitForQueue(server, 1)
	if got := c.status(t, http.MethodGet, readyPath); got != 200 {
		t.Errorf("beside busy workers: %d", got)
	}
	close(calls.free)
	running.Wait()

	chain := newBlocker()
	server.Ready(chainTable(t, chain))
	var asking sync.WaitGroup
	for range healthWorkers + healthQueue {
		asking.Go(func() { c.status(t, http.MethodGet, readyPath) })
	}
	for range healthWorkers {
		<-chain.began
	}
	for len(server.health.workers.waiting) < healthQueue {
		runtime.Gosched()
	}
	if got := c.status(t, http.MethodGet, readyPath); got != 503 {
		t.Errorf("one too many: %d", got)
	}
	if got := c.status(t, http.MethodGet, livePath); got != 200 {
		t.Errorf("alive: %d", got)
	}
	c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`)
	close(chain.free)
	asking.Wait()
}

// A node that takes too long is not ready.
func TestReadyPatience(t *testing.T) {
	chain := newBlocker()
	server := startServer(t, Config{User: "u", Password: "p"})
	server.health.patience = time.Millisecond
	server.Ready(chainTable(t, chain))
	if got := newClient(t, server).status(t, http.MethodGet, readyPath); got != 503 {
		t.Errorf("%d", got)
	}
}

// A stop ends what looks whether the node is ready.
func TestReadyStop(t *testing.T) {
	chain := newBlocker()
	server := startServer(t, Config{User: "u", Password: "p"})
	server.health.patience = time.Hour
	server.Ready(chainTable(t, chain))
	c := newClient(t, server)
	var asking sync.WaitGroup
	asking.Go(func() {
		if got := c.status(t, http.MethodGet, readyPath); got != 503 {
			t.Errorf("%d", got)
		}
	})
	<-chain.began
	if err := server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	asking.Wait()
}

// FuzzMaxLag: what is taken is a number of blocks that was named once.
func FuzzMaxLag(f *testing.F) {
	for _, seed := range []string{"", "maxlag=1", "maxlag=%31", "maxlag=+1", "maxlag=1;x", "a&maxlag=1", "maxlag=01", "%zz"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		lag, ok := maxLag(query)
		if !ok {
			return
		}
		if lag < noMaxLag || lag >= 1<<31 || (lag == noMaxLag) != (query == "") || strings.Contains(query, ";") {
			t.Errorf("%q is %d", query, lag)
		}
	})
}
