package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/rpc"
)

// leads returns where a Location of the answer to a request leads, as a browser takes it.
func leads(t *testing.T, from, location string) string {
	t.Helper()
	at, err := url.Parse(from)
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(location)
	if err != nil {
		t.Fatal(err)
	}
	return at.ResolveReference(to).Path
}

// Redirections lead to the place of the session after a login, and to / after the logout, from wherever the form is
// sent. The logout takes the token from its form too, and has the browser forget the cookie.
func TestWhereRedirectionsLead(t *testing.T) {
	n := start(t, rpc.Config{})
	b := n.browser(t)
	for _, from := range []string{"/ui/login", "/ui/" + newPlace() + "/ui/login"} {
		got := b.ask(t, http.MethodPost, from, "user=u&password=p")
		if to := leads(t, from, got.header.Get("Location")); !strings.HasPrefix(to, "/ui/~") ||
			strings.Count(to, "/") != 3 || !strings.HasSuffix(to, "/") {
			t.Errorf("%s leads to %s", from, to)
		}
	}
	b.login(t, "u", "p")
	token := b.token
	b.token = ""
	from := "/ui/" + b.place + "/ui/logout"
	for form, status := range map[string]int{"token=x": http.StatusForbidden, "": http.StatusForbidden} {
		if got := b.ask(t, http.MethodPost, "/ui/logout", form); got.status != status {
			t.Errorf("%q: %v", form, got)
		}
	}
	got := b.ask(t, http.MethodPost, "/ui/logout", "token="+url.QueryEscape(token))
	if to := leads(t, from, got.header.Get("Location")); got.status != http.StatusSeeOther || to != "/" {
		t.Errorf("leads to %s: %v", to, got)
	}
	if cookie := got.header.Get("Set-Cookie"); !strings.Contains(cookie, "Max-Age=0") {
		t.Errorf("the cookie stays: %q", cookie)
	}
	if got := b.ask(t, http.MethodPost, "/ui/logout", ""); got.status != http.StatusSeeOther {
		t.Error("without a session:", got)
	}
}

// Each path has its methods, and says which.
func TestMethodsOfPaths(t *testing.T) {
	n := start(t, rpc.Config{})
	b := n.browser(t)
	b.login(t, "u", "p")
	for path, allow := range map[string]string{
		"/ui/login": "POST", "/ui/logout": "POST", "/ui/call": "POST", "/ui/call/wallet/w": "POST", "/ui/upload": "POST",
		"/ui/upload/restore": "POST", "/ui/upload/drop": "POST", "/ui/session": "GET, HEAD",
		"/ui/assets/page.js": "GET, HEAD", "/ui/events": "GET, POST",
	} {
		method := http.MethodPut
		got := b.ask(t, method, path, "", "Origin", "http://"+n.addr)
		if got.status != http.StatusMethodNotAllowed || got.header.Get("Allow") != allow {
			t.Errorf("%s: %v, %q", path, got.status, got.header.Get("Allow"))
		}
	}
	for _, test := range []struct {
		method, path string
		status       int
	}{
		{"HEAD", "/", 200}, {"HEAD", "/ui/session", 200}, {"HEAD", "/ui/assets/page.js", 200}, {"GET", "/ui/index", 404},
		{"GET", "/ui/nothing", 404}, {"GET", "/ui/check", 404}, {"GET", "/ui/preview", 404}, {"GET", "/ui/part/nothing", 404},
		{"POST", "/ui/part/index", 404}, {"PUT", "/ui/part/index", 404}, {"POST", "/ui/nothing", 404},
		{"GET", "/ui/export", 404}, {"GET", "/ui/export?format=xml", 404}, {"GET", "/ui/assets/nothing", 404},
		{"GET", "/ui/assets/", 404}, {"PUT", "/ui/check", 404},
	} {
		got := b.ask(t, test.method, test.path, "", "Origin", "http://"+n.addr)
		if got.status != test.status || test.method == "HEAD" && got.text != "" {
			t.Errorf("%s %s: %v", test.method, test.path, got)
		}
	}
	w := httptest.NewRecorder()
	n.ServeHTTP(w, &http.Request{
		Method: http.MethodPost, RequestURI: "/ui/call/wallet/%zz", Host: "127.0.0.1", RemoteAddr: "127.0.0.1:9",
		Body: http.NoBody, Header: http.Header{"Authorization": {"Basic dTpw"}},
	})
	if w.Code != http.StatusNotFound {
		t.Error("a wallet's name that cannot be read:", w.Code)
	}
	if got := n.browser(t).ask(t, http.MethodGet, "/ui/"+b.place, ""); got.status != http.StatusUnauthorized {
		t.Error("a place without an end:", got)
	}
}

// Forms that a page sends need the token of its session, as calls do.
func TestFormsNeedTheToken(t *testing.T) {
	n := startBroken(t, "")
	b := n.browser(t)
	b.login(t, "u", "p")
	for _, path := range []string{"/ui/check", "/ui/preview", "/ui/nothing"} {
		if got := b.ask(t, http.MethodPost, path, "objects=x", tokenHeader, ""); got.status != http.StatusForbidden {
			t.Errorf("%s: %v", path, got)
		}
	}
	if got := b.ask(t, http.MethodPost, "/ui/check", "objects=raw(51)"); got.status != http.StatusOK {
		t.Error(got)
	}
	for form, want := range map[string]int{
		"objects=%": http.StatusBadRequest,
		"objects=" + strings.Repeat("x", maxObjects): http.StatusRequestEntityTooLarge,
	} {
		got := b.ask(t, http.MethodPost, "/ui/check", form)
		if got.status != want || got.text == "" || got.text != badForm[want] {
			t.Errorf("a form of %d bytes: %v", len(form), got)
		}
	}
	if got := b.ask(t, http.MethodPost, "/ui/preview", "file=x"); got.status != http.StatusForbidden ||
		got.text != "This login may not call previewrestore" {
		t.Error("without the right:", got)
	}
}

// A stream of events needs the token, in a header or in the query, and to be asked for by a page of this server. A
// login by itself needs none, and what else the query says is passed on as it is.
func TestEventsAdmission(t *testing.T) {
	n := start(t, rpc.Config{})
	asked := make(queries, 1)
	n.Streams.Serve(asked)
	b := n.browser(t)
	b.login(t, "u", "p")
	own := "http://" + n.addr
	for what, test := range map[string]struct {
		method, path, body string
		headers            []string
		status             int
		query              string // that the stream is opened with
	}{
		"a page":              {"GET", "?a=b", "", nil, 400, "a=b"},
		"a query of its own":  {"GET", "?a;b=c", "", nil, 400, "a;b=c"},
		"a token there":       {"GET", "?token=" + b.token + "&a=b", "", []string{tokenHeader, "x"}, 400, "a=b"},
		"a wrong token there": {"GET", "?token=x", "", nil, 403, ""},
		"no token":            {"GET", "", "", []string{tokenHeader, ""}, 403, ""},
		"its origin":          {"GET", "", "", []string{"Origin", own, "Sec-Fetch-Site", ""}, 400, ""},
		"no word of a site":   {"GET", "", "", []string{"Sec-Fetch-Site", "", "User-Agent", "x"}, 403, ""},
		"typed by hand":       {"GET", "", "", []string{"Sec-Fetch-Site", "none"}, 403, ""},
		"a post":              {"POST", "?a=b", "", nil, 400, "a=b"},
		"a post of nobody":    {"POST", "", "", []string{"Origin", ""}, 403, ""},
		"a body":              {"POST", "", "x", nil, 400, "none"},
		"a login":             {"GET", "?a=b", "", []string{"Authorization", "Basic dTpw", tokenHeader, ""}, 400, "a=b"},
		"a wrong login":       {"GET", "", "", []string{"Authorization", "Basic eDp4"}, 401, ""},
	} {
		got := b.ask(t, test.method, "/ui/events"+test.path, test.body, test.headers...)
		opened := "none"
		select {
		case opened = <-asked:
		default:
		}
		if got.status != test.status || (opened == "none") == (test.status == 400 && test.query != "none") ||
			opened != "none" && opened != test.query {
			t.Errorf("%s: opened with %q, %v", what, opened, got)
		}
	}
}

// A visitor that is not logged in is told why a login was wrong, and nothing else.
func TestWhyThereIsALoginForm(t *testing.T) {
	n := start(t, rpc.Config{})
	b := n.browser(t)
	if got := b.ask(t, http.MethodGet, "/", ""); got.status != http.StatusUnauthorized || got.has(wrongLogin) {
		t.Error(got)
	}
	got := b.ask(t, http.MethodGet, "/", "", "Authorization", "Basic eDp4")
	if got.status != http.StatusUnauthorized || !got.has(wrongLogin) {
		t.Error(got)
	}
	n.page.view.templates = map[string]*template.Template{"BTC": template.New("none")}
	if got := b.ask(t, http.MethodGet, "/", ""); got.status != http.StatusInternalServerError {
		t.Error("without a template:", got)
	}
}

// lasting is a page that is not told of new logins.
type lasting struct{ *Handler }

func (lasting) Reloaded() {}

// A session whose login is gone ends with the next request, though nobody has said so before.
func TestSessionOfALostLogin(t *testing.T) {
	page, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	n := serve(t, rpc.Config{User: "u", Password: "p", Page: lasting{page}})
	n.Ready(methods(t))
	n.page = page
	b := n.browser(t)
	b.login(t, "u", "p")
	changed := rpc.Config{User: "u", Password: "new"}
	if err := rpc.Reload(n.Server, &changed); err != nil || len(page.sessions.byKey) != 1 {
		t.Fatal(err)
	}
	if got := b.ask(t, http.MethodGet, "/", ""); got.status != http.StatusUnauthorized ||
		len(page.sessions.byKey) != 0 {
		t.Errorf("%d sessions: %v", len(page.sessions.byKey), got)
	}
}

// A page that is closed ends its sessions and takes no login, and its uploads are gone.
func TestClosedPage(t *testing.T) {
	n, b, dir := uploading(t, rpc.Config{})
	if got := b.ask(t, http.MethodPost, "/ui/upload", "content"); len(stored(t, dir)) != 1 {
		t.Fatal(got)
	}
	n.page.Close()
	if got := b.ask(t, http.MethodGet, "/", ""); got.status != http.StatusUnauthorized {
		t.Error("a session goes on:", got)
	}
	got := b.ask(t, http.MethodPost, "/ui/login", "user=u&password=p")
	if got.status != http.StatusServiceUnavailable || got.header.Get("Set-Cookie") != "" {
		t.Error("a login:", got)
	}
	got = b.ask(t, http.MethodPost, "/ui/upload", "content", "Authorization", "Basic dTpw")
	if got.status != http.StatusServiceUnavailable || len(stored(t, dir)) != 0 {
		t.Errorf("%d uploads: %v", len(stored(t, dir)), got)
	}
	n.page.uploads.dir = dir
	if _, err := n.page.uploads.begin("u"); !errors.Is(err, errNoUploads) {
		t.Error("an upload begins:", err)
	}
}

// Files have a type of their own each, and a tag, and are sent once to a browser that has them.
func TestAssets(t *testing.T) {
	n := start(t, rpc.Config{})
	b := n.browser(t)
	tags := map[string]string{}
	for name, file := range n.page.assets {
		got := b.ask(t, http.MethodGet, "/ui/assets/"+name, "")
		if got.status != http.StatusOK || got.text != string(file.body) ||
			got.header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %v", name, got.status)
		}
		want, ok := kinds[path.Ext(name)]
		if !ok && path.Ext(name) == "" {
			want = "application/octet-stream"
		}
		if kind := got.header.Get("Content-Type"); kind != want {
			t.Errorf("%s is %q, want %q", name, kind, want)
		}
		tag := got.header.Get("Etag")
		if other, ok := tags[tag]; ok && string(n.page.assets[other].body) != got.text {
			t.Errorf("%s and %s have one tag", name, other)
		}
		tags[tag] = name
		for has, status := range map[string]int{
			tag: http.StatusNotModified, "W/" + tag: http.StatusNotModified, `"x", ` + tag: http.StatusNotModified,
			`"x"`: http.StatusOK, tag + "x": http.StatusOK,
		} {
			got := b.ask(t, http.MethodGet, "/ui/assets/"+name, "", "If-None-Match", has)
			if got.status != status || (got.text == "") == (status == http.StatusOK) || got.header.Get("Etag") != tag {
				t.Errorf("%s for who has %s: %v", name, has, got.status)
			}
		}
	}
	if len(tags) < 12 {
		t.Errorf("%d files", len(tags))
	}
}

// A handler logs where it is told to, and nowhere by itself.
func TestLogOfHandler(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	for _, c := range []Config{{}, {Log: log}} {
		page, err := New(c)
		if err != nil || page.log == nil || page.view.kept.log != page.log || (page.log == log) != (c.Log == log) {
			t.Errorf("logs to %v, %v", page.log, err)
		}
	}
}

// The status of a page that could not be made: the node's own answers are the viewer's fault, all else is not.
func TestFailure(t *testing.T) {
	for _, test := range []struct {
		err    error
		status int
		words  string
	}{
		{callError{Code: -8, Message: "no such search"}, http.StatusBadRequest, "no such search"},
		{callError{Code: 1, Message: "no"}, http.StatusBadRequest, "no"},
		{callError{Code: internalError, Message: "Internal error"}, http.StatusInternalServerError, "Internal error"},
		{callError{Message: "busy", Status: 503}, http.StatusServiceUnavailable, "busy"},
		{fmt.Errorf("x: %w", callError{Message: "none", Status: 401}), http.StatusUnauthorized, "x: none"},
		{errors.New("torn"), http.StatusInternalServerError, "torn"},
	} {
		if status, words := failure(test.err); status != test.status || words != test.words {
			t.Errorf("%v: %d, %q", test.err, status, words)
		}
	}
}

// refusing is a viewer whose calls are refused by the errors of their methods.
type refusing map[string]error

func (r refusing) Has(string) bool { return true }

func (r refusing) Call(_ context.Context, _ *string, method string, _ ...any) (json.RawMessage, error) {
	return json.RawMessage("1"), r[method]
}

// A call that the node could not answer is told of once, in words that name the method; its answers are not.
func TestNoting(t *testing.T) {
	n := &noting{viewer: refusing{
		"b": callError{Code: internalError, Message: "Internal error"}, "c": callError{Message: "c: busy", Status: 503},
		"a": errors.New("torn"), "answer": callError{Code: -8, Message: "no such thing"},
	}}
	for range 2 {
		for _, method := range []string{"c", "b", "a", "answer", "fine"} {
			reply, err := n.Call(t.Context(), nil, method)
			if (err == nil) != (method == "fine") || err == nil && string(reply) != "1" {
				t.Errorf("%s: %s, %v", method, reply, err)
			}
		}
	}
	if got := strings.Join(n.words(), "; "); got != "a: torn; b: Internal error; c: busy" {
		t.Errorf("got %q", got)
	}
}
