package forward

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/corenode"
)

// A login that Core has accepted counts for a minute; then Core is asked again, at once,
// and one that it refuses by then is a guess like any other.
func TestLoginIsAskedAgain(t *testing.T) {
	asked, refuse := 0, false
	core := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		if refuse {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"},"id":0}`)
	}))
	defer core.Close()
	address, err := corenode.ParseAddress(core.URL, 0)
	if err != nil {
		t.Fatal(err)
	}
	client, err := corenode.New(corenode.Config{Address: address})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	l := newLogins(client, nil, func(string) bool { return true })
	now := time.Now()
	l.now = func() time.Time { return now }
	const header = "Basic YTpi"
	for step, want := range []struct {
		do    func()
		in    bool
		asked int
	}{
		{func() {}, false, 0},
		{func() { _, _ = l.Ask(t.Context(), header) }, true, 1},
		{func() { now = now.Add(remembered - 1) }, true, 1},
		{func() { now = now.Add(1) }, true, 2},
		{func() { now, refuse = now.Add(remembered), true }, false, 3},
		{func() {}, false, 3},
	} {
		want.do()
		if in := l.Known(t.Context(), header) != nil; in != want.in || asked != want.asked {
			t.Errorf("%d: %t after %d questions, want %t after %d", step, in, asked, want.in, want.asked)
		}
	}
}
