package rpc

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/seed61375155/trawl/rpc/command"
)

// The paths that load balancers and supervisors ask. Their answers are statuses without a body,
// so they need no login.
const (
	livePath  = "/health/live"
	readyPath = "/health/ready"
)

const (
	// healthWorkers is how many questions whether the node is ready are looked into at a time.
	healthWorkers = 2

	// healthQueue is how many more such questions may wait.
	healthQueue = 16

	// healthPatience is how long looking may take; a node that takes longer is not ready.
	healthPatience = 5 * time.Second
)

// healthDoor answers whether the node is alive and ready, with workers of its own, so that
// neither many calls make a node look dead nor many questions keep callers from being served.
type healthDoor struct {
	server   *Server
	workers  *workers
	patience time.Duration
}

func newHealthDoor(s *Server) *healthDoor {
	return &healthDoor{s, newWorkers(healthWorkers, healthQueue), healthPatience}
}

// asksHealth reports whether a request asks for the health of the node.
func asksHealth(r *http.Request) bool {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && (path == livePath || path == readyPath)
}

// serve answers such a request.
func (d *healthDoor) serve(w http.ResponseWriter, r *http.Request) {
	path, query, _ := strings.Cut(r.RequestURI, "?")
	if path == livePath {
		d.server.reply(w, response{status: http.StatusOK})
		return
	}
	lag, ok := maxLag(query)
	if !ok {
		d.server.reply(w, response{status: http.StatusBadRequest, body: text("maxlag is a number of blocks")})
		return
	}
	if !connOf(r).hold() {
		panic(http.ErrAbortHandler)
	}
	status := http.StatusServiceUnavailable
	if d.ready(r.Context(), lag) {
		status = http.StatusOK
	}
	d.server.reply(w, response{status: status})
}

// noMaxLag stands for a question that names no lag.
const noMaxLag = -1

// maxLag reads a query. It may be empty, and has nothing but maxlag once otherwise.
func maxLag(query string) (lag int64, ok bool) {
	if query == "" {
		return noMaxLag, true
	}
	values, err := url.ParseQuery(query)
	if err != nil || len(values) != 1 || len(values["maxlag"]) != 1 {
		return 0, false
	}
	n, err := strconv.ParseUint(values["maxlag"][0], 10, 31)
	return int64(n), err == nil
}

// ready reports whether calls are answered and the initial download is over. Where a lag is named,
// the chain must also be at most that many blocks behind its best header, and each index behind the
// chain. A client that leaves gives its place to others.
func (d *healthDoor) ready(client context.Context, lag int64) bool {
	table, err := d.server.ready()
	if err != nil || !d.workers.enter() {
		return false
	}
	defer d.workers.leave()
	ctx, cancel := context.WithTimeout(client, d.patience)
	defer cancel()
	defer context.AfterFunc(d.server.ctx, cancel)() //nolint:contextcheck // the server may end before the client leaves
	ready, err := isReady(ctx, table, lag)
	if err != nil { // no warning: probes come every few seconds
		d.server.debugf("Health request failed: %v", err)
	}
	return ready
}

// isReady asks the methods that report how far chain and indexes are.
func isReady(ctx context.Context, table *command.Table, lag int64) (bool, error) {
	var chain struct {
		Blocks, Headers int64
		Initial         *bool `json:"initialblockdownload"`
	}
	if err := ask(ctx, table, "getblockchaininfo", &chain); err != nil {
		return false, err
	}
	if chain.Initial == nil || *chain.Initial {
		return false, nil
	}
	if lag == noMaxLag {
		return true, nil
	}
	var indexes map[string]struct {
		Height int64 `json:"best_block_height"`
	}
	if err := ask(ctx, table, "getindexinfo", &indexes); err != nil {
		return false, err
	}
	for _, index := range indexes {
		if chain.Blocks-index.Height > lag {
			return false, nil
		}
	}
	return chain.Headers-chain.Blocks <= lag, nil
}

// ask reads the result of a method without parameters.
func ask(ctx context.Context, table *command.Table, method string, result any) error {
	reply, err := table.Do(ctx, command.Caller{}, method, []byte("[]"))
	if err != nil {
		return err
	}
	return json.Unmarshal(reply, result)
}
