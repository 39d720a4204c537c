package rpc

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/rpc/command"
)

// doorOf starts a server that knows some methods, and returns its door.
func doorOf(t *testing.T, c Config) *Door {
	t.Helper()
	s := startServer(t, c)
	table, err := command.NewTable([]command.Command{
		{Name: "two", Run: func(context.Context, *command.Args) (any, error) { return 2, nil }},
		{Name: "one", Run: func(context.Context, *command.Args) (any, error) { return 1, nil }},
		{Name: "hidden", Category: command.Hidden, Run: func(context.Context, *command.Args) (any, error) {
			return 3, nil
		}},
		{Name: "three", Run: func(context.Context, *command.Args) (any, error) { return 3, nil }},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Ready(table)
	return &Door{s}
}

// visit is a request with some headers: names and values, one after the other.
func visit(t *testing.T, method, body string, headers ...string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "/ui/x", strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

// A visitor logs in by name and password, or by the header of a request, and has then the rights of the login, for as
// long as that is one. A name has no colon in it.
func TestVisitors(t *testing.T) {
	t.Parallel()
	c := Config{User: "u", Password: "p", Whitelist: []string{"u:one,three,hidden"}}
	d := doorOf(t, c)
	for _, test := range []struct {
		user, password string
		status         int
	}{{"u", "p", 0}, {"u", "x", 401}, {"u:p", "", 401}, {"", "u:p", 401}, {"u:", "p", 401}} {
		password := []byte(test.password)
		v, status := d.Login(visit(t, http.MethodPost, ""), test.user, password)
		if status != test.status || (v != nil) != (status == 0) {
			t.Errorf("%s:%s: %d", test.user, test.password, status)
		}
		if string(password) != strings.Repeat("\x00", len(password)) {
			t.Errorf("the password is there still: %q", password)
		}
	}
	for header, want := range map[string]int{"": 401, basic("u:p"): 0, basic("u:x"): 401, "Basic": 401} {
		r := visit(t, http.MethodPost, "")
		if header != "" {
			r.Header.Set("Authorization", header)
		}
		if _, status := d.Authorize(r); status != want {
			t.Errorf("%q: %d", header, status)
		}
	}
	v, _ := d.Authorize(visit(t, http.MethodPost, "", "Authorization", basic("u:p")))
	names, starting := d.Methods(v)
	if v.Name() != "u" || !v.LoggedIn(t.Context()) || !v.MayCall("one") || v.MayCall("two") || starting != "" ||
		!slices.Equal(names, []string{"one", "three"}) {
		t.Errorf("%s may call %v, %s", v.Name(), names, starting)
	}
	status, reply := d.Do(t.Context(), v, "", nil, "one", []byte("[]"))
	if status != 200 || string(reply) != `{"jsonrpc":"2.0","result":1,"id":1}`+"\n" {
		t.Errorf("%d, %s", status, reply)
	}
	if status, reply := d.Do(t.Context(), v, "", nil, "two", []byte("[]")); status != 403 || len(reply) != 0 {
		t.Errorf("%d, %s", status, reply)
	}
	d.server.SetWarmup("Reading")
	if names, starting := d.Methods(v); names != nil || starting != "Reading" {
		t.Errorf("%v, %s", names, starting)
	}
	if err := Reload(d.server, &Config{User: "u", Password: "new"}); err != nil {
		t.Fatal(err)
	}
	if v.LoggedIn(t.Context()) || v.MayCall("one") || v.rights().Any() {
		t.Error("a login that is none any more")
	}
	if status, reply := d.Do(t.Context(), v, "", nil, "one", []byte("[]")); status != 401 || reply != nil {
		t.Errorf("%d, %s", status, reply)
	}
	for name, answer := range map[string]func(w http.ResponseWriter){
		"Call":   func(w http.ResponseWriter) { d.Call(w, visit(t, http.MethodPost, v2Call("one")), v, nil) },
		"Stream": func(w http.ResponseWriter) { d.Stream(t.Context(), w, visit(t, http.MethodGet, ""), v, "") },
	} {
		d.server.Streams.Serve(newSource())
		w := httptest.NewRecorder()
		if answer(w); w.Code != 401 {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
}

// known is another node whose logins are known once it has been asked.
type known struct {
	right string
	asked int
}

func (k *known) Known(_ context.Context, header string) command.Login {
	if k.asked > 0 && header == k.right {
		return coreUser{}
	}
	return nil
}

func (k *known) Ask(_ context.Context, header string) (command.Login, error) {
	if k.asked++; header == k.right {
		return coreUser{}, nil
	}
	return nil, nil //nolint:nilnil // wrong
}

// A visitor whose login another node judges is that login's for as long as the node says that it is there.
func TestVisitorsFromElsewhere(t *testing.T) {
	t.Parallel()
	elsewhere := &known{right: basic("core:right")}
	d := doorOf(t, Config{User: "u", Password: "p", Logins: elsewhere})
	v, status := d.Login(visit(t, http.MethodPost, ""), "core", []byte("right"))
	if status != 0 || elsewhere.asked != 1 {
		t.Fatal(status, elsewhere.asked)
	}
	for range 2 {
		if !v.LoggedIn(t.Context()) || v.Name() != "core" || elsewhere.asked != 1 {
			t.Errorf("%s, asked %d times", v.Name(), elsewhere.asked)
		}
	}
	if may := (coreUser{}).Allows("one"); v.MayCall("one") != may || v.rights() != rights(coreUser{}) {
		t.Errorf("may call: %v", !may)
	}
	elsewhere.right = "another"
	if v.LoggedIn(t.Context()) || elsewhere.asked != 2 {
		t.Errorf("asked %d times", elsewhere.asked)
	}
	if _, status := d.Login(visit(t, http.MethodPost, ""), "core", []byte("wrong")); status != 401 {
		t.Error(status)
	}
}

// Calls of a page have the bounds of all calls.
func TestDoorBounds(t *testing.T) {
	d := doorOf(t, Config{User: "u", Password: "p"})
	v, _ := d.Authorize(visit(t, http.MethodPost, "", "Authorization", basic("u:p")))
	for length, want := range map[int64]int{maxBody + 1: 413, -1: 200} {
		r, w := visit(t, http.MethodPost, v2Call("one")), httptest.NewRecorder()
		r.ContentLength = length
		if d.Call(w, r, v, nil); w.Code != want {
			t.Errorf("%d bytes: %d", length, w.Code)
		}
	}
	w := httptest.NewRecorder()
	if d.Stream(t.Context(), w, visit(t, http.MethodGet, ""), v, ""); w.Code != 503 {
		t.Errorf("without events: %d", w.Code)
	}
	for _, test := range []struct {
		limit int64
		err   bool
	}{{5, false}, {6, false}, {4, true}} {
		got, err := d.ReadAll(httptest.NewRecorder(), visit(t, http.MethodPost, "12345"), test.limit)
		if (err != nil) != test.err || !test.err && string(got) != "12345" {
			t.Errorf("at most %d: %q, %v", test.limit, got, err)
		}
		read, err := io.ReadAll(d.Body(httptest.NewRecorder(), visit(t, http.MethodPost, "12345"), test.limit))
		if (err != nil) != test.err || !test.err && string(read) != "12345" {
			t.Errorf("at most %d: %q, %v", test.limit, read, err)
		}
	}
	for _, body := range []string{"", "text"} {
		w := httptest.NewRecorder()
		if d.Reply(w, 418, "text/x", []byte(body)); w.Code != 418 || w.Body.String() != body ||
			w.Header().Get("Content-Type") != "text/x" {
			t.Errorf("%q: %d, %v, %q", body, w.Code, w.Header(), w.Body)
		}
	}
}

// A request comes from a page of this server where its Host is known, and its only Origin is that host's.
func TestFromOwnPage(t *testing.T) {
	d := doorOf(t, Config{User: "u", Password: "p", AllowHosts: []string{"node.example"}})
	for _, test := range []struct {
		host       string
		origins    []string
		known, own bool
	}{
		{"127.0.0.1:1", []string{"http://127.0.0.1:1"}, true, true},
		{"node.example", []string{"https://NODE.example"}, true, true},
		{"127.0.0.1:1", nil, true, false}, {"127.0.0.1:1", []string{"http://127.0.0.1:2"}, true, false},
		{"127.0.0.1:1", []string{"http://127.0.0.1:1", "http://127.0.0.1:1"}, true, false},
		{"", []string{"http://"}, false, false}, {"evil.example", []string{"http://evil.example"}, false, false},
		{"127.0.0.1:1", []string{"null"}, true, false},
	} {
		r := visit(t, http.MethodPost, "")
		r.Host, r.Header["Origin"] = test.host, test.origins
		if d.KnownHost(r) != test.known || d.FromOwnPage(r) != test.own {
			t.Errorf("%q from %q: known %v, own %v", test.host, test.origins, d.KnownHost(r), d.FromOwnPage(r))
		}
	}
}

// The page is asked for below its path, and at / by who takes HTML.
func TestWantsPage(t *testing.T) {
	for _, test := range []struct {
		method, target, accept string
		want                   bool
	}{
		{"GET", "/", "text/html", true}, {"GET", "/", "image/png, Text/HTML;q=0.1", true}, {"GET", "/", "*/*", true},
		{"GET", "/", "text/*", false}, {"GET", "/", "", false}, {"POST", "/", "text/html", false},
		{"GET", "/x", "text/html", false}, {"POST", "/ui/", "", true}, {"GET", "/ui/x", "", true},
		{"GET", "/ui", "*/*", false},
		{"GET", "/", "application/json,text/html-x", false},
	} {
		r := &http.Request{Method: test.method, RequestURI: test.target, Header: http.Header{"Accept": {test.accept}}}
		if got := wantsPage(r); got != test.want {
			t.Errorf("%s %s, %q: %v", test.method, test.target, test.accept, got)
		}
	}
}

// A notice is due once in a while, and says how often it was not.
func TestNotice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n notice
		for _, step := range []struct {
			after  time.Duration
			missed int
			due    bool
		}{
			{0, 0, true}, {time.Second, 0, false}, {noticeEvery - time.Second - 1, 0, false}, {1, 2, true},
			{noticeEvery, 0, true}, {noticeEvery - 1, 0, false}, {time.Hour, 1, true}, {time.Hour, 0, true},
		} {
			time.Sleep(step.after)
			if missed, due := n.due(); missed != step.missed || due != step.due {
				t.Errorf("after %v: %d, %v, want %d, %v", step.after, missed, due, step.missed, step.due)
			}
		}
	})
}

// Public requests have a quarter of what callers with a login have, and large bodies half of the processors.
func TestParts(t *testing.T) {
	d := newPublicDoor(nil, 16, 64)
	if cap(d.workers.running) != 4 || cap(d.workers.waiting) != 16 || d.replies.limit != maxReplies/4 ||
		d.bodies.limit != maxPublicBodies {
		t.Errorf("%d workers, %d wait", cap(d.workers.running), cap(d.workers.waiting))
	}
	s, _, err := start(t, Config{})
	if err != nil || cap(s.parsing) != max(cores.Count()/2, 1) {
		t.Errorf("%d bodies are parsed, %v", cap(s.parsing), err)
	}
}

// A server that cannot start leaves neither a cookie nor a port, and a server that never served is gone when it ends.
func TestNothingIsLeftOfAServer(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".cookie")
	first, _, err := start(t, Config{CookieFile: path})
	if err != nil {
		t.Fatal(err)
	}
	port := first.Addrs()[0].String()
	port = port[strings.LastIndexByte(port, ':')+1:]
	if err := first.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	bad := Config{CookieFile: path, Port: port, Unix: filepath.Join(path, "no", "folder")}
	_, log, err := start(t, bad)
	if !errors.Is(err, ErrStart) || !strings.Contains(log, "Binding RPC on socket "+bad.Unix) {
		t.Errorf("%v, logged %s", err, log)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the cookie is there: %v", err)
	}
	if _, _, err := start(t, Config{CookieFile: path, Port: port}); err != nil {
		t.Errorf("the port is taken: %v", err)
	}
}

// When a socket is closed nothing goes but its own name: the name that it was made under may be another file's by then.
func TestUnixSocketLeavesOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rpc.sock")
	l, err := listenUnix(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	before := l.Addr().String()
	if before == path {
		t.Fatal("it was made in its place")
	}
	if err := os.WriteFile(before, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(before); string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is there: %v", err)
	}
}
