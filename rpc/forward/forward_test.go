package forward_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/rpc/forward"
)

func TestForwarding(t *testing.T) {
	p := newPair(t, nil)
	for _, test := range []struct {
		login, body string
		status      int
		reply       string
	}{
		{
			asCookie, `{"method":"getmempoolinfo","id":"x"}`,
			200, `{"result":{"size": 1.00000000,"b":"\u00e9"},"error":null,"id":"x"}`,
		},
		{
			asOwn, `{"jsonrpc":"2.0","method":"getmempoolinfo","id":[1]}`,
			200, `{"jsonrpc":"2.0","result":{"size": 1.00000000,"b":"\u00e9"},"id":[1]}`,
		},
		{
			asAlice, `{"method":"getchaintips","id":1}`,
			500, `{"result":null,"error":{"code":-5,"message":"no ☃"},"id":1}`,
		},
		{
			asAlice, `{"jsonrpc":"2.0","method":"getchaintips","id":1}`,
			200, `{"jsonrpc":"2.0","error":{"code":-5,"message":"no ☃"},"id":1}`,
		},
		{
			asAlice, `{"method":"nosuch","id":1}`,
			404, `{"result":null,"error":{"code":-32601,"message":"Method not found"},"id":1}`,
		},
		{
			asAlice, `{"method":"warm","id":1}`,
			500, `{"result":null,"error":{"code":-28,"message":"Verifying blocks…"},"id":1}`,
		},
		{
			asAlice, `{"jsonrpc":"2.0","method":"getmempoolinfo"}`,
			204, ``,
		},
		{
			asAlice, `{"method":"busy","id":1}`,
			503, ``,
		},
		{
			asAlice, `{"method":"broken","id":1}`,
			500, `{"result":null,"error":{"code":-1,"message":"The reply of Bitcoin Core cannot be read"},"id":1}`,
		},
		{
			asListed, `{"method":"getmempoolinfo","id":1}`,
			200, `{"result":{"size": 1.00000000,"b":"\u00e9"},"error":null,"id":1}`,
		},
		{
			asListed, `{"method":"sendmany","params":["argument"],"id":1}`,
			403, ``,
		},
		{
			asListed, `{"method":"stop","id":1}`,
			403, ``,
		},
		{
			asAlice, `[{"method":"getblockcount","id":1},{"jsonrpc":"2.0","method":"getmempoolinfo","id":2},{"method":"busy","id":3}]`,
			200, `[{"result":7,"error":null,"id":1},{"jsonrpc":"2.0","result":{"size": 1.00000000,"b":"\u00e9"},"id":2},` +
				`{"result":null,"error":{"code":-1,"message":"Bitcoin Core refuses this call (HTTP status 503)"},"id":3}]`,
		},
		{
			asOwn, `{"method":"argument as a name","id":1}`,
			404, `{"result":null,"error":{"code":-32601,"message":"Method not found"},"id":1}`,
		},
		{
			asAlice, `{"method":"argument as a name","id":1}`,
			404, `{"result":null,"error":{"code":-32601,"message":"Method not found"},"id":1}`,
		},
	} {
		status, reply := p.post(t, test.login, "/", test.body)
		if status != test.status || strings.TrimSuffix(reply, "\n") != test.reply {
			t.Errorf("%s: %d %s, want %d %s", test.body, status, reply, test.status, test.reply)
		}
	}
}

// Core gets the call as the client sent it, with the client's login and path.
func TestWhatIsPassedOn(t *testing.T) {
	p := newPair(t, nil)
	p.post(t, asAlice, "/wallet/a%2Fb%20c", `{"method":"sendmany","params":{"x":1.10,"y":"argument","x":[]},"id":1}`)
	p.post(t, asOwn, "/", `{"method":"getmempoolinfo","params":[]}`)
	p.core.mu.Lock()
	defer p.core.mu.Unlock()
	n := len(p.core.seen)
	if n < 2 {
		t.Fatalf("Core saw %q", p.core.seen)
	}
	want := `alice {"jsonrpc":"2.0","id":0,"method":"sendmany","params":{"x":1.10,"y":"argument","x":[]}}`
	if p.core.seen[n-2] != want || p.core.paths[n-2] != "/wallet/a%2Fb%20c" {
		t.Errorf("%s %s, want %s", p.core.paths[n-2], p.core.seen[n-2], want)
	}
	if want := `__cookie__ {"jsonrpc":"2.0","id":0,"method":"getmempoolinfo","params":[]}`; p.core.seen[n-1] != want {
		t.Errorf("%s, want %s", p.core.seen[n-1], want)
	}
}

// The node follows before the reply to what moves the chain, and only then.
func TestMoved(t *testing.T) {
	p := newPair(t, nil)
	p.post(t, asAlice, "/", `{"method":"getmempoolinfo"}`)
	if p.moved.Load() != 0 {
		t.Error("followed after a call that moves nothing")
	}
	p.post(t, asAlice, "/", `{"method":"generate"}`)
	if p.moved.Load() != 1 {
		t.Error("did not follow")
	}
}

// Guesses reach Core one after the other, at the pace of wrong logins here, and are
// counted; a right login is let in meanwhile.
func TestGuesses(t *testing.T) {
	p := newPair(t, nil)
	if status, _ := p.post(t, asAlice, "/", `{"method":"getmempoolinfo"}`); status != 200 {
		t.Fatalf("status %d", status)
	}
	began := time.Now()
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			if status, _ := p.post(t, "alice:"+guess, "/", `{}`); status != http.StatusUnauthorized {
				t.Errorf("status %d", status)
			}
		})
	}
	status, _ := p.post(t, asAlice, "/", `{"method":"getmempoolinfo"}`)
	if status != 200 || time.Since(began) > 200*time.Millisecond {
		t.Errorf("status %d after %v", status, time.Since(began))
	}
	group.Wait()
	p.core.mu.Lock()
	defer p.core.mu.Unlock()
	if len(p.core.wrong) != 6 {
		t.Fatalf("%d guesses reached Core", len(p.core.wrong))
	}
	if took := p.core.wrong[5].Sub(began); took < 240*time.Millisecond { // 60 between two; one may have come at once
		t.Errorf("six guesses reached Core within %v", took)
	}
	if n := strings.Count(p.log.String(), "incorrect password attempt"); n != 6 {
		t.Errorf("%d wrong logins in the log", n)
	}
}

// While Core is away a login of Core that it has accepted keeps its rights; a login that it was
// never asked about gets nothing.
func TestCoreAway(t *testing.T) {
	p := newPair(t, nil)
	if status, _ := p.post(t, asCookie, "/", `{"method":"getblockcount"}`); status != 200 {
		t.Fatalf("status %d", status)
	}
	p.core.Close()
	for login, want := range map[string]int{asOwn: 500, asCookie: 500, asAlice: 503} {
		status, reply := p.post(t, login, "/", `{"method":"getmempoolinfo","id":1}`)
		const away = `{"code":-9,"message":"Bitcoin Core does not answer"}`
		if status != want || status == 500 && !strings.Contains(reply, away) {
			t.Errorf("%d %s", status, reply)
		}
	}
	for login, want := range map[string]int{asCookie: 200, asAlice: 503} {
		for _, method := range []string{"getblockcount", "stop"} {
			if status, _ := p.post(t, login, "/", `{"method":"`+method+`"}`); status != want {
				t.Errorf("%s: %d, want %d", method, status, want)
			}
		}
	}
}

// A caller who leaves ends the wait for Core.
func TestCallerLeaves(t *testing.T) {
	silent := make(chan struct{})
	left := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		close(silent)
		<-r.Context().Done()
		close(left)
	}))
	defer server.Close()
	address, _ := corenode.ParseAddress(server.URL, 0)
	p := newPair(t, func(c *forward.Config) {
		c.Core, _ = corenode.New(corenode.Config{Address: address, User: "a", Password: "b"})
	})
	ctx, cancel := context.WithCancel(t.Context())
	body := strings.NewReader(`{"method":"getmempoolinfo"}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url, body)
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("own", ownSecret)
	go func() { <-silent; cancel() }()
	if resp, err := http.DefaultClient.Do(req); err == nil {
		resp.Body.Close()
		t.Error("an answer")
	}
	select {
	case <-left:
	case <-time.After(10 * time.Second):
		t.Error("Core is still waited for")
	}
}

func BenchmarkForward(b *testing.B) {
	p := newPair(b, nil)
	for _, bench := range []struct{ name, url, login string }{
		{"direct", p.core.URL, asAlice}, {"forwarded", p.url, asAlice},
	} {
		b.Run(bench.name, func(b *testing.B) {
			q := &pair{url: bench.url}
			for b.Loop() {
				q.post(b, bench.login, "/", `{"method":"getmempoolinfo","id":1}`)
			}
		})
	}
}

// A panic while the node follows costs the one call.
func TestPanic(t *testing.T) {
	p := newPair(t, func(c *forward.Config) { c.Follow = func(context.Context) error { panic("follow") } })
	if status, reply := p.post(t, asAlice, "/", `{"method":"generate","id":1}`); status != 500 ||
		!strings.Contains(reply, `"code":-32603`) {
		t.Errorf("%d %s", status, reply)
	}
	if status, _ := p.post(t, asAlice, "/", `{"method":"getmempoolinfo","id":1}`); status != 200 {
		t.Errorf("after it: %d", status)
	}
}
