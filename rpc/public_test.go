package rpc

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/seed61375155/trawl/rpc/command"
)

// get returns status and body of the answer to a public request.
func (c *client) get(t *testing.T, target, body string) string {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(t.Context(), method, "http://"+c.addr+target, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return ""
	}
	answer, err := c.http.Do(request)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	return answer.Status[:3] + " " + answer.Header.Get("Content-Type") + " " + string(text)
}

// chainTable has the method behind chaininfo, which runs until it is let go, and a method that
// panics.
func chainTable(t *testing.T, b *blocker) *command.Table {
	t.Helper()
	blocked := b.commands()[0]
	blocked.Name = "getblockchaininfo"
	table, err := command.NewTable(append(b.commands(), blocked, command.Command{
		Name: "getmempoolinfo", Run: func(context.Context, *command.Args) (any, error) { return late{}, nil },
	}))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Public requests need no login and have bounds of their own: however many there are, users
// with a login are served.
func TestPublicRequests(t *testing.T) {
	b := newBlocker()
	s := startServer(t, Config{User: "u", Password: "p", Threads: 4, WorkQueue: 4, REST: true})
	c := newClient(t, s)
	const info = "/rest/chaininfo.json"
	s.SetWarmup("Loading block index…")
	if got := c.get(t, info, ""); got != "503 text/plain Service temporarily unavailable: Loading block index…\r\n" {
		t.Errorf("%q", got)
	}
	s.Ready(chainTable(t, b))
	var requests sync.WaitGroup
	for range 2 {
		requests.Go(func() {
			if got := c.get(t, info, ""); got != "200 application/json \"done\"\n" {
				t.Errorf("%q", got)
			}
		})
	}
	<-b.began
	for len(s.rest.workers.waiting) < 1 {
		runtime.Gosched()
	}
	if got := c.get(t, info, ""); !strings.HasPrefix(got, "503 ") {
		t.Errorf("%q", got)
	}
	c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`)
	if len(s.workers.running) > 0 {
		t.Error("a public request has a worker of others")
	}
	close(b.free)
	requests.Wait()
	for target, want := range map[string]string{
		"/rest/nothing":                 "404 text/html; charset=ISO-8859-1 ",
		"/rest/tx/abc.json":             "400 text/plain Invalid hash: abc\r\n",
		"/rest/chaininfo":               "404 text/plain output format not found (available: json)\r\n",
		"/rest/blockhashbyheight/%25.x": "400 text/plain Invalid height: %25.x\r\n",
		"/rest/mempool/info.json":       "500 text/plain Internal error\r\n",
	} {
		if got := c.get(t, target, ""); got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
	if got := c.get(t, "/rest/getutxos.bin", strings.Repeat("x", maxPublicBody+1)); !strings.HasPrefix(got, "413 ") {
		t.Errorf("%q", got)
	}
}

// Caches may keep what never changes, and nothing else of these paths.
func TestCacheControl(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p", REST: true})
	c := newClient(t, s)
	of := func(target string) string {
		answer, err := c.http.Get("http://" + c.addr + target) //nolint:noctx // ends with the test
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.Header.Get("Cache-Control")
	}
	s.SetWarmup("Loading block index…")
	if got := of("/rest/chaininfo.json"); got != "no-store" {
		t.Errorf("while the node starts: %q", got)
	}
	table, err := command.NewTable([]command.Command{{
		Name: "getdeploymentinfo", Params: []command.Param{{Name: "blockhash", Type: command.String}},
		Run: func(context.Context, *command.Args) (any, error) { return 1, nil },
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.Ready(table)
	hash := strings.Repeat("ab", 32)
	for target, want := range map[string]string{
		"/rest/deploymentinfo/" + hash + ".json": "public, immutable, max-age=86400",
		"/rest/deploymentinfo.json":              "no-store",
		"/rest/deploymentinfo/ab.json":           "no-store",
		"/rest/tx":                               "no-store",
		"/rest/nothing":                          "no-store",
		"/rest?x=1":                              "no-store",
		"/other":                                 "",
	} {
		if got := of(target); got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}

// A percent sign that escapes nothing is told from %25.
func TestPublicTarget(t *testing.T) {
	for target, want := range map[string]string{
		"/rest/headers/a%": "/rest/headers/a%", "/rest/a%25": "/rest/a%25", "/rest/a%zz%20": "/rest/a%zz%20",
	} {
		line := mendRequestLine([]byte("GET " + target + " HTTP/1.1\r\n"))
		got := strings.ReplaceAll(strings.Fields(string(line))[1], brokenEscape, "%")
		if got != want {
			t.Errorf("%s became %s", target, got)
		}
	}
}

// Without -rest there is no such path.
func TestNoPublicRequests(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p"})
	s.Ready(chainTable(t, newBlocker()))
	if got := newClient(t, s).get(t, "/rest/chaininfo.json", ""); !strings.HasPrefix(got, "404 ") {
		t.Errorf("%q", got)
	}
}
