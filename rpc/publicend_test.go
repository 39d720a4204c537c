package rpc

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/rpc/command"
)

// wrecked is a reader that panics at what it is asked.
type wrecked struct{ command.Reader }

// Headers implements [command.Reader].
func (wrecked) Headers(*chainhash.Hash, int) ([]byte, error) { panic("wreck") }

// startPublic starts a server of one public worker and a queue of one. The method behind chaininfo blocks, the
// method behind deployments panics, and the result behind the memory pool panics when it is written.
func startPublic(t *testing.T, b *blocker, log *safeBuffer) (*Server, *client) {
	t.Helper()
	s := startServer(t, Config{
		User: "u", Password: "p", Threads: 4, WorkQueue: 4, REST: true, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	blocked := b.commands()[0]
	blocked.Name = "getblockchaininfo"
	table, err := command.NewTable(append(b.commands(), blocked,
		command.Command{
			Name: "getdeploymentinfo", Run: func(context.Context, *command.Args) (any, error) { panic("wreck") },
		},
		command.Command{
			Name: "getmempoolinfo", Run: func(context.Context, *command.Args) (any, error) { return late{}, nil },
		},
		command.Command{
			Name:   "getrawmempool",
			Params: []command.Param{{Name: "a", Type: command.Bool}, {Name: "b", Type: command.Bool}},
			Run:    func(context.Context, *command.Args) (any, error) { return []string{}, nil },
		},
	))
	if err != nil {
		t.Fatal(err)
	}
	s.Ready(table.Read(wrecked{}))
	return s, newClient(t, s)
}

// idle waits until nothing of the public door is held, and fails where that does not come.
func (d *publicDoor) idle(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		running, waiting := len(d.workers.running), len(d.workers.waiting)
		bodies, replies := d.bodies.used.Load(), d.replies.used.Load()
		if running+waiting == 0 && bodies+replies == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d run, %d wait, %d and %d bytes are held", running, waiting, bodies, replies)
		}
	}
}

const (
	chainTarget   = "/rest/chaininfo.json"
	poolTarget    = "/rest/mempool/contents.json"
	restFailed    = "500 text/plain Internal error\r\n"
	restStopping  = "503 text/plain Shutting down\r\n"
	restPool      = "200 application/json []\n"
	restChainInfo = "200 application/json \"done\"\n"
)

// A panic is answered once, in words that tell nothing, wherever it comes; it takes no worker and no memory with
// it, and the log has it.
func TestPublicPanics(t *testing.T) {
	var log safeBuffer
	s, c := startPublic(t, newBlocker(), &log)
	hash := strings.Repeat("ab", 32)
	for range 3 {
		for _, target := range []string{
			"/rest/deploymentinfo.json", "/rest/mempool/info.json", "/rest/headers/" + hash + ".bin",
		} {
			if got := c.get(t, target, ""); got != restFailed {
				t.Errorf("%s: %q", target, got)
			}
			s.rest.idle(t)
		}
		if got := c.get(t, poolTarget, ""); got != restPool {
			t.Errorf("afterwards: %q", got)
		}
	}
	c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`)
	if text := log.String(); strings.Count(text, "REST request failed") != 9 || strings.Count(text, "wreck") < 6 ||
		strings.Contains(text, "superfluous") {
		t.Errorf("logged\n%s", text)
	}
}

// Stopping the node ends running requests, which get that reason, and waiting requests.
func TestPublicStop(t *testing.T) {
	var log safeBuffer
	b := newBlocker()
	s, c := startPublic(t, b, &log)
	var requests sync.WaitGroup
	requests.Go(func() {
		if got := c.get(t, chainTarget, ""); got != restStopping {
			t.Errorf("what ran: %q", got)
		}
	})
	<-b.began
	requests.Go(func() {
		if got := c.get(t, poolTarget, ""); !strings.HasPrefix(got, "503 ") {
			t.Errorf("what waited: %q", got)
		}
	})
	for len(s.rest.workers.waiting) < 1 {
		runtime.Gosched()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	requests.Wait()
	s.rest.idle(t)
	if text := log.String(); strings.Contains(text, "REST request failed") {
		t.Errorf("logged\n%s", text)
	}
}

// A client that leaves while its request runs, or waits, ends nothing and keeps nothing.
func TestPublicClientLeaves(t *testing.T) {
	var log safeBuffer
	b := newBlocker()
	s, c := startPublic(t, b, &log)
	ctx, leave := context.WithCancel(t.Context())
	var requests sync.WaitGroup
	for range 2 {
		requests.Go(func() {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.addr+chainTarget, http.NoBody)
			if err != nil {
				t.Error(err)
				return
			}
			if answer, err := c.http.Do(r); !errors.Is(err, context.Canceled) {
				answer.Body.Close()
				t.Errorf("answered: %v", answer.Status)
			}
		})
	}
	<-b.began
	for len(s.rest.workers.waiting) < 1 {
		runtime.Gosched()
	}
	leave()
	requests.Wait()
	if got := c.get(t, poolTarget, ""); !strings.HasPrefix(got, "503 ") {
		t.Errorf("while they run: %q", got)
	}
	close(b.free)
	s.rest.idle(t)
	if got := c.get(t, chainTarget, ""); got != restChainInfo {
		t.Errorf("afterwards: %q", got)
	}
}
