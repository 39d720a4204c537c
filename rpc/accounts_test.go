package rpc

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
)

// A reload changes the logins and their rights for later calls; a reload with a mistake
// changes nothing.
func TestReload(t *testing.T) {
	var log safeBuffer
	path := filepath.Join(t.TempDir(), ".cookie")
	entry := func(user, password string) string { return user + ":s$" + rpcauth.Hash("s", password) }
	s := startServer(t, Config{
		Auth: []string{entry("a", "old"), entry("b", "b")}, CookieFile: path, Whitelist: []string{"b:quick"},
		Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	s.Ready(blockerTable(t, newBlocker()))
	c := newClient(t, s)
	cookie, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := func(when string, statuses map[string]string) {
		t.Helper()
		for call, status := range statuses {
			login, method, _ := strings.Cut(call, " ")
			got, err := c.post(t.Context(), "/", login, v2Call(method))
			if err != nil || got[:3] != status {
				t.Errorf("%s: %s: %s, %v, want %s", when, method, got, err, status)
			}
		}
	}
	no := false
	want("at first", map[string]string{
		"a:old quick": "403", "a:new quick": "401", "b:b quick": "200", "b:b status": "403",
		string(cookie) + " quick": "403",
	})
	next := Config{Auth: []string{entry("a", "new")}, WhitelistDefault: &no, Whitelist: []string{"a:status"}}
	if err := Reload(s, &next); err != nil {
		t.Fatal(err)
	}
	after := map[string]string{
		"a:old status": "401", "a:new status": "200", "a:new quick": "403", "b:b quick": "401",
		string(cookie) + " quick": "200",
	}
	want("after a reload", after)
	if err := Reload(s, &Config{Auth: []string{entry("c", "c"), "broken"}}); !errors.Is(err, ErrReload) {
		t.Error("an entry that is none:", err)
	}
	want("after a mistake", after)
	if strings.Contains(log.String(), "Nobody can log in") {
		t.Error("the cookie is not seen")
	}
}

// The log reports a reload that leaves no login at all.
func TestReloadOfNobody(t *testing.T) {
	var log safeBuffer
	s := startServer(t, Config{User: "u", Password: "p", Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err := Reload(s, &Config{}); err != nil || !strings.Contains(log.String(), "Nobody can log in") {
		t.Errorf("%v, logged %s", err, log.String())
	}
	if got, err := newClient(t, s).post(t.Context(), "/", "u:p", v2Call("x")); err != nil || got[:3] != "401" {
		t.Error(got, err)
	}
}

// A stream tells what its login may hear now, and ends once the login is gone.
//
//nolint:bodyclose // the cleanup of stream closes them
func TestReloadUnderStreams(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p"})
	c, from := newClient(t, s), newSource()
	s.Streams.Serve(from)
	resp := c.stream(t, "/events", "u:p")
	if resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
	in := bufio.NewReader(resp.Body)
	expect := func(id, method string) {
		from.events <- StreamEvent{ID: id, Name: "e", Data: []byte("{}"), Method: method}
	}
	next := func(want string) {
		t.Helper()
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if id, ok := strings.CutPrefix(strings.TrimSpace(line), "id: "); ok {
				if id != want {
					t.Fatalf("event %s, want %s", id, want)
				}
				return
			}
		}
	}
	expect("1", "status")
	next("1")
	if err := Reload(s, &Config{User: "u", Password: "p", Whitelist: []string{"u:quick"}}); err != nil {
		t.Fatal(err)
	}
	expect("2", "status")
	expect("3", "quick")
	next("3")
	if err := Reload(s, &Config{User: "u", Password: "other"}); err != nil {
		t.Fatal(err)
	}
	expect("4", "quick")
	if rest, err := io.ReadAll(in); err == nil || strings.Contains(string(rest), "id: 4") {
		t.Errorf("after the login has gone: %q, %v", rest, err)
	}
	<-from.closed
}
