package web

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/seed61375155/trawl/rpc"
	"github.com/seed61375155/trawl/rpc/command"
)

// broken is a node one of whose methods panics for as long as it is told to.
type broken struct {
	*node

	mu    sync.Mutex
	fails bool
	log   bytes.Buffer
}

func (n *broken) set(fails bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fails = fails
}

func (n *broken) does() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.fails
}

// Write keeps the log.
func (n *broken) Write(text []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.log.Write(text)
}

func (n *broken) logged() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.log.String()
}

// startBroken starts a node with methods of the overview, of which the given method panics.
func startBroken(t *testing.T, method string) *broken {
	t.Helper()
	n := &broken{fails: true}
	n.node = unready(t, rpc.Config{Threads: 1, WorkQueue: 16, Log: slog.New(slog.NewTextHandler(n, nil))})
	n.page.log = slog.New(slog.NewTextHandler(n, nil))
	n.page.view.kept.log = n.page.log
	var all []command.Command
	for name, result := range map[string]any{
		"getblockchaininfo": map[string]any{"chain": "main", "blocks": 7, "headers": 7},
		"listwallets":       []string{"w"}, "getwalletinfo": map[string]any{"walletname": "w", "scanning": false},
		"getbalances": map[string]any{"mine": map[string]any{"trusted": 1}}, "createsearch": true,
		"getdescriptorinfo": map[string]any{"descriptor": "d", "checksum": "c"},
	} {
		all = append(all, command.Command{
			Name: name, Params: []command.Param{{Name: "a", Type: command.String, Optional: true}},
			Run: func(context.Context, *command.Args) (any, error) {
				if name == method && n.does() {
					panic("wreck")
				}
				return result, nil
			},
		})
	}
	table, err := command.NewTable(all)
	if err != nil {
		t.Fatal(err)
	}
	n.Ready(table)
	return n
}

// has reports whether the text has words in it.
func (a answer) has(words string) bool { return strings.Contains(a.text, words) }

// A method that panics is missing on the page, which says so, and is there again when it answers; no worker
// is lost.
func TestMethodPanics(t *testing.T) {
	for method, test := range map[string]struct{ path, says, shows string }{
		"getblockchaininfo": {"/ui/part/index", "getblockchaininfo: Internal error. What it tells", `id="tip-height">7<`},
		"getbalances":       {"/ui/part/wallet/w", "getbalances: Internal error. What it tells", `data-sat="100000000"`},
		"getwalletinfo":     {"/ui/part/wallet/w", "<p>Internal error</p>", `data-sat="100000000"`},
	} {
		n := startBroken(t, method)
		b := n.browser(t)
		b.login(t, "u", "p")
		for range 3 {
			got := b.ask(t, http.MethodGet, test.path, "", freshHeader, "1")
			if got.status != http.StatusOK || !got.has(test.says) || got.has(test.shows) || got.has("wreck") {
				t.Errorf("%s: %v", method, got)
			}
		}
		if log := n.logged(); strings.Count(log, "wreck") < 3 {
			t.Errorf("%s: the log has %s", method, log)
		}
		n.set(false)
		got := b.ask(t, http.MethodGet, test.path, "", freshHeader, "1")
		if got.status != http.StatusOK || got.has("Internal error") || !got.has(test.shows) {
			t.Errorf("%s, afterwards: %v", method, got)
		}
	}
}

// swap replaces the model of a page.
func (n *node) swap(name string, f model) {
	changed := n.page.view.routes[name]
	changed.model = f
	n.page.view.routes[name] = changed
}

// The model of a page may panic, in a goroutine of its own too. Each client that waits for the page is answered
// once, in words, and the next page is whole.
func TestModelPanics(t *testing.T) {
	n := startBroken(t, "")
	const waiting = 5
	n.swap("index", func(ctx context.Context, v viewer, query url.Values) (any, error) {
		if !n.does() {
			return n.page.view.homeModel(ctx, v, query)
		}
		together(func() {}, func() { panic("wreck") })
		return nil, nil
	})
	n.set(true)
	b := n.browser(t)
	b.login(t, "u", "p")
	for _, test := range []struct{ path, says string }{
		{"/", "This page could not be made: the node has failed at it, and its log says why."},
		{"/ui/part/index", "the node has failed at it, and its log says why"},
	} {
		var group sync.WaitGroup
		for range waiting {
			group.Go(func() {
				got := b.ask(t, http.MethodGet, test.path, "")
				if got.status != http.StatusInternalServerError || !got.has(test.says) || got.has("wreck") {
					t.Errorf("%s: %v", test.path, got)
				}
			})
		}
		group.Wait()
	}
	if got := b.ask(t, http.MethodGet, "/", ""); !strings.Contains(got.text, `data-part="index"`) ||
		!strings.Contains(got.text, "data-instead") || got.header.Get("Content-Security-Policy") != contentPolicy {
		t.Error("the page does not come back by itself:", got)
	}
	if log := n.logged(); !strings.Contains(log, "wreck") || !strings.Contains(log, "panic_test.go") {
		t.Error("the log has", log)
	}
	n.set(false)
	if got := b.ask(t, http.MethodGet, "/", "", freshHeader, "1"); got.status != http.StatusOK ||
		!strings.Contains(got.text, `id="tip-height">7<`) {
		t.Error(got)
	}
}

// A panic beyond the models is told in words where there is no answer yet, and cuts the connection where there is a
// part of one.
func TestServePanics(t *testing.T) {
	n := startBroken(t, "")
	b := n.browser(t)
	b.login(t, "u", "p")
	templates := n.page.view.templates
	n.page.view.templates = nil // a form is shown without one
	got := b.ask(t, http.MethodPost, "/ui/check", "objects=raw(51)")
	if got.status != http.StatusInternalServerError || got.text != errUnmade.Error() {
		t.Error(got)
	}
	n.page.view.templates = templates
	if got := b.ask(t, http.MethodPost, "/ui/check", "objects=raw(51)"); got.status != http.StatusOK {
		t.Error(got)
	}

	// A failure once the answer has begun, here for want of a door, ends the connection.
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, http.ErrAbortHandler) {
			t.Error("panics with", err)
		}
	}()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/ui/part/index", http.NoBody)
	a := &asker{Name: "part/index", Look: lookOf(r)}
	w := httptest.NewRecorder()
	n.page.guarded(a, w, func() { n.page.view.serve(a, w, r) })
	t.Error("it was answered")
}

// A call that the node is too busy for is missing on the page, which reports the call.
func TestBusy(t *testing.T) {
	began, free := make(chan struct{}, 2), make(chan struct{})
	n := unready(t, rpc.Config{Threads: 1, WorkQueue: 1})
	table, err := command.NewTable([]command.Command{
		{Name: "one", Run: func(context.Context, *command.Args) (any, error) {
			began <- struct{}{}
			<-free
			return 1, nil
		}},
		{Name: "getblockchaininfo", Run: func(context.Context, *command.Args) (any, error) { return nil, nil }},
	})
	if err != nil {
		t.Fatal(err)
	}
	n.Ready(table)
	b := n.browser(t)
	b.login(t, "u", "p")
	var calls sync.WaitGroup
	calls.Go(func() { b.ask(t, http.MethodPost, "/ui/call", callOne) })
	<-began
	// Two requests come now, and the queue has no room for the second.
	answers := make(chan answer, 2)
	for _, path := range []string{"/ui/part/index", "/ui/part/index?x"} {
		calls.Go(func() { answers <- b.ask(t, http.MethodGet, path, "") })
	}
	if got := <-answers; !got.has("getblockchaininfo: Service Unavailable. What it tells is missing here") {
		t.Error(got)
	}
	close(free)
	calls.Wait()
}

// queries notes what streams of events are asked for, and opens none.
type queries chan string

// Open implements rpc.Events.
func (q queries) Open(_ context.Context, query, _ string, _ func(string) bool) (rpc.EventStream, error) {
	q <- query
	return nil, errors.New("none")
}

// The token of a page is not passed on with what else a stream of events is asked for.
func TestEventsQuery(t *testing.T) {
	n := start(t, rpc.Config{})
	asked := make(queries, 1)
	n.Streams.Serve(asked)
	b := n.browser(t)
	b.login(t, "u", "p")
	got := b.ask(t, http.MethodGet, "/ui/events?topics=tip&token="+b.token, "", tokenHeader, "")
	if query := <-asked; query != "topics=tip" || got.status != http.StatusBadRequest || got.text != "none" {
		t.Errorf("asked for %q: %v", query, got)
	}
}
