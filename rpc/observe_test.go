package rpc

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61375155/trawl/rpc/command"
)

// A witness counts its notifications.
type witness struct {
	mu       sync.Mutex
	observed map[string]int
}

func (w *witness) note(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.observed == nil {
		w.observed = map[string]int{}
	}
	w.observed[what]++
}

func (w *witness) Called(method string, took time.Duration, failed bool) {
	if took < 0 || took > time.Minute {
		w.note("an odd time")
	}
	w.note(fmt.Sprintf("%s %v", method, failed))
}

func (w *witness) Replied(status int) { w.note(strconv.Itoa(status)) }

// take returns the notifications since the last time.
func (w *witness) take() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []string
	for _, what := range slices.Sorted(maps.Keys(w.observed)) {
		list = append(list, fmt.Sprintf("%d x %s", w.observed[what], what))
	}
	w.observed = nil
	return strings.Join(list, ", ")
}

// An observer is notified of every call and reply, and of no name that is not a method's.
func TestObserver(t *testing.T) {
	run := func(context.Context, *command.Args) (any, error) { return 1, nil }
	table, err := command.NewTable([]command.Command{
		{Name: "good", Run: run},
		{Name: "bad", Run: func(context.Context, *command.Args) (any, error) { return nil, command.Errorf(-5, "no") }},
		{Name: "panics", Run: func(context.Context, *command.Args) (any, error) { panic("boom") }},
		{Name: "picky", Params: []command.Param{{Name: "n", Type: command.Number}}, Run: run},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{}
	server := startServer(t, Config{User: "u", Password: "p", Observer: w})
	c := newClient(t, server)
	call := func(login, body, want string) {
		t.Helper()
		if _, err := c.post(t.Context(), "/", login, body); err != nil {
			t.Fatal(err)
		}
		if got := w.take(); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
		}
	}
	call("u:p", v2Call("good"), "1 x  true, 1 x 200") // nothing is known before the node is up
	server.Ready(table)
	call("u:p", v2Call("good"), "1 x 200, 1 x good false")
	call("u:p", v2Call("bad"), "1 x 200, 1 x bad true")
	call("u:p", v2Call("panics"), "1 x 200, 1 x panics true")
	call("u:p", v2Call("cVpF924EspNh8KjYsfhgY96mmxvT6DgdWiTYMtMjuM74hJaU5psW"), "1 x  true, 1 x 200")
	call("u:p", `{"jsonrpc":"2.0","method":"picky","params":["x"],"id":1}`, "1 x 200, 1 x picky true")
	call("u:p", `{"jsonrpc":"2.0","method":"good"}`, "1 x 204, 1 x good false")
	call("u:p", `[`+v2Call("good")+`,`+v2Call("good")+`,`+v2Call("no")+`,7]`, "2 x  true, 1 x 200, 2 x good false")
	call("u:p", `{`, "1 x 500")
	call("x:y", v2Call("good"), "1 x 401")
	if got := c.status(t, http.MethodGet, "/nothing"); got != http.StatusNotFound {
		t.Error(got)
	}
	if got := w.take(); got != "1 x 404" {
		t.Error(got)
	}
}

// The load is what runs and waits at this moment.
func TestLoad(t *testing.T) {
	calls := newBlocker()
	table, err := command.NewTable(calls.commands())
	if err != nil {
		t.Fatal(err)
	}
	server := startServer(t, Config{User: "u", Password: "p", Threads: 1, WorkQueue: 4})
	server.Ready(table)
	if got := LoadOf(server); got != (Load{}) {
		t.Errorf("at first: %+v", got)
	}
	c := newClient(t, server)
	var running sync.WaitGroup
	running.Go(func() { c.want(t, v2Call("block"), `200 {"jsonrpc":"2.0","result":"done","id":1}`) })
	<-calls.began
	running.Go(func() { c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`) })
	waitForQueue(server, 1)
	if got, want := LoadOf(server), (Load{Running: 1, Queued: 1, Conns: 2}); got != want {
		t.Errorf("busy: %+v, want %+v", got, want)
	}
	close(calls.free)
	running.Wait()
	if got := LoadOf(server); got.Running != 0 || got.Queued != 0 {
		t.Errorf("afterwards: %+v", got)
	}
}
