package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/rpc"
	"github.com/seed61375155/trawl/rpc/command"
)

// methods are those of a node that knows little.
func methods(t *testing.T) *command.Table {
	t.Helper()
	table, err := command.NewTable([]command.Command{
		{Name: "one", Run: func(context.Context, *command.Args) (any, error) { return 1, nil }},
		{Name: "other", Run: func(context.Context, *command.Args) (any, error) { return "x", nil }},
		{Name: "who", Run: func(_ context.Context, a *command.Args) (any, error) {
			return []any{a.User, a.WalletPath}, nil
		}},
		{Name: "fails", Run: func(context.Context, *command.Args) (any, error) {
			return nil, command.Errorf(command.InvalidParameter, "no such thing")
		}},
		{
			Name: "previewrestore", Params: []command.Param{
				{Name: "backup_file", Type: command.String},
				{Name: "wallet_name", Type: command.String, Optional: true},
			},
			Run: func(_ context.Context, a *command.Args) (any, error) {
				path, _ := a.String(0)
				text, err := os.ReadFile(path)
				name, _ := a.String(1)
				preview := map[string]any{"intact": string(text) != "bad", "text": string(text), "name": name}
				if string(text) == "cut" {
					preview["intact"], preview["restore"] = false, map[string]any{}
				}
				return preview, err
			},
		},
		{
			Name: "restorewallet", Params: []command.Param{
				{Name: "wallet_name", Type: command.String},
				{Name: "backup_file", Type: command.String},
				{Name: "load_on_startup", Type: command.Bool, Optional: true},
			},
			Run: func(_ context.Context, a *command.Args) (any, error) {
				name, _ := a.String(0)
				path, _ := a.String(1)
				text, err := os.ReadFile(path)
				result := name + " " + string(text)
				if load, err := a.Bool(2); err == nil {
					result += fmt.Sprintf(" load %v", load)
				}
				return result, err
			},
		},
		{Name: "hidden", Category: command.Hidden, Run: func(context.Context, *command.Args) (any, error) {
			return nil, nil
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// A node is a server with a page.
type node struct {
	*rpc.Server
	page *Handler
	addr string
}

func start(t *testing.T, c rpc.Config) *node {
	t.Helper()
	n := unready(t, c)
	n.Ready(methods(t))
	return n
}

// unready starts a node that has yet to say Ready.
func unready(t *testing.T, c rpc.Config) *node {
	t.Helper()
	page, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	c.Page = page
	if c.Password == "" && c.Auth == nil {
		c.User, c.Password = "u", "p"
	}
	n := serve(t, c)
	n.page = page
	return n
}

// serve starts a server with a page, which the node does not know.
func serve(t *testing.T, c rpc.Config) *node {
	t.Helper()
	s, err := rpc.NewServer(c)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve() }()
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &node{Server: s, addr: s.Addrs()[0].String()}
}

// A browser keeps cookies, and follows no redirect by itself.
type browser struct {
	http.Client

	node  *node
	place string // of its session, for all paths of the page; empty: none
	token string
}

func (n *node) browser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{node: n, Client: http.Client{
		Jar: jar, Transport: &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	t.Cleanup(b.CloseIdleConnections)
	return b
}

// An answer is what a browser got.
type answer struct {
	status int
	header http.Header
	text   string
}

// ask makes a request as a page of the node does, but for some headers: names and values, one after the
// other. An empty value takes a header away.
func (b *browser) ask(t *testing.T, method, path, body string, more ...string) answer {
	t.Helper()
	var from io.Reader
	if body != "" {
		from = strings.NewReader(body)
	}
	if b.place != "" && (path == "/" || strings.HasPrefix(path, "/ui/")) {
		path = "/ui/" + b.place + path
	}
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+b.node.addr+path, from)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("User-Agent", "Mozilla/5.0 (test)")
	r.Header.Set("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method == http.MethodPost {
		r.Header.Set("Origin", "http://"+b.node.addr)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if b.token != "" {
		r.Header.Set(tokenHeader, b.token)
	}
	for i := 0; i+1 < len(more); i += 2 {
		if more[i] == "Host" {
			r.Host = more[i+1]
		}
		if r.Header.Del(more[i]); more[i+1] != "" {
			r.Header.Set(more[i], more[i+1])
		}
	}
	resp, err := b.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(text)}
}

// login logs in and learns the token.
func (b *browser) login(t *testing.T, user, password string) {
	t.Helper()
	form := url.Values{"user": {user}, "password": {password}}.Encode()
	got := b.ask(t, http.MethodPost, "/ui/login", form)
	_, place, found := strings.Cut(got.header.Get("Location"), "/ui/")
	if got.status != http.StatusSeeOther || !found || !strings.HasSuffix(place, "/") {
		t.Fatal(got)
	}
	b.place = strings.TrimSuffix(place, "/")
	var session struct{ User, Token string }
	got = b.ask(t, http.MethodGet, "/ui/session", "")
	if err := json.Unmarshal([]byte(got.text), &session); err != nil || session.User != user || session.Token == "" {
		t.Fatal(got, err)
	}
	b.token = session.Token
}

const callOne = `{"jsonrpc":"2.0","id":1,"method":"one"}`

// A browser is asked for a login without Basic, logs in, makes calls, and logs out.
func TestSession(t *testing.T) {
	n := start(t, rpc.Config{})
	b := n.browser(t)
	if got := b.ask(t, http.MethodGet, "/", ""); got.status != http.StatusUnauthorized ||
		got.header.Get("WWW-Authenticate") != "" || !strings.Contains(got.text, `"./ui/login"`) {
		t.Error(got)
	}
	b.login(t, "u", "p")
	if got := b.ask(t, http.MethodGet, "/", ""); got.status != http.StatusOK || !strings.Contains(got.text, b.token) {
		t.Error(got)
	}
	if got := b.ask(t, http.MethodPost, "/ui/call", callOne); got.status != http.StatusOK ||
		got.text != `{"jsonrpc":"2.0","result":1,"id":1}`+"\n" {
		t.Error(got)
	}
	call := strings.Replace(callOne, "one", "who", 1)
	if got := b.ask(t, http.MethodPost, "/ui/call/wallet/a%2Fb", call); !strings.Contains(got.text, `["u","a/b"]`) {
		t.Error(got)
	}
	if got := b.ask(t, http.MethodPost, "/ui/logout", ""); got.status != http.StatusSeeOther {
		t.Error(got)
	}
	if got := b.ask(t, http.MethodPost, "/ui/call", callOne); got.status != http.StatusUnauthorized {
		t.Error("after the logout:", got)
	}
}

// The cookie of a session goes to servers on other ports of the host too. The cookie alone gives access to nothing,
// and reveals neither the place of the session nor its token.
func TestCookieIsNotEnough(t *testing.T) {
	n := start(t, rpc.Config{})
	b := n.browser(t)
	b.login(t, "u", "p")
	place, token := b.place, b.token
	wrong := newPlace()
	for _, thief := range []struct{ what, place, cookie string }{
		{"the cookie", "", "the browser's"},
		{"the cookie at another place", wrong, "the browser's"},
		{"the cookie at a part of the place", place[:len(place)-1], "the browser's"},
		{"the place alone", place, ""},
	} {
		b.place, b.token = thief.place, token
		jar := b.Jar
		if thief.cookie == "" {
			b.Jar = nil
		}
		for _, path := range []string{
			"/", "/ui/session", "/ui/new", "/ui/part/index", "/ui/export?id=1&format=csv", "/ui/events?topics=tip",
		} {
			got := b.ask(t, http.MethodGet, path, "")
			if got.status != http.StatusUnauthorized || strings.Contains(got.text, token) {
				t.Errorf("%s, %s: %v", thief.what, path, got)
			}
			if thief.place == "" && strings.Contains(got.text+got.header.Get("Location"), placeMark) {
				t.Errorf("%s, %s tells a place", thief.what, path)
			}
		}
		for _, path := range []string{
			"/ui/call", "/ui/call/wallet/w", "/ui/upload?name=x", "/ui/upload/drop", "/ui/check",
		} {
			if got := b.ask(t, http.MethodPost, path, callOne); got.status != http.StatusUnauthorized {
				t.Errorf("%s, %s: %v", thief.what, path, got)
			}
		}
		b.Jar = jar
	}
	b.place = place
	if got := b.ask(t, http.MethodPost, "/ui/call", callOne); got.status != http.StatusOK {
		t.Error("the session itself:", got)
	}
	got := b.ask(t, http.MethodGet, "/", "")
	if strings.Contains(got.text, `href="/`) || strings.Contains(got.text, `action="/`) {
		t.Error("the page leads out of its place")
	}
}

// A form for logging in is read as url.ParseQuery reads forms, into memory that can be overwritten.
func TestReadLogin(t *testing.T) {
	for _, form := range []string{
		"", "user=u&password=p", "password=p&user=u", "user=u", "user=a&user=b&password=c&password=d", "user=%zz",
		"user=%4", "user=%", "user=a%20b+c&password=%25%2B%C3%BC", "us%65r=x&password=", "user=a;b&password=c",
		"a;user=b", "=x", "user", "&&user=u&", "password=%00", "x=%zz&user=u", "user=u=v", "+user=1",
	} {
		checkLogin(t, form)
	}
	for c := range 256 {
		for _, digits := range []string{string([]byte{byte(c), '7'}), string([]byte{'7', byte(c)})} {
			checkLogin(t, "user=a%"+digits+"b")
		}
	}
}

// checkLogin compares what is read of a form with what url.ParseQuery reads.
func checkLogin(t *testing.T, form string) {
	t.Helper()
	user, password, ok := readLogin([]byte(form))
	want, err := url.ParseQuery(form)
	if ok != (err == nil) || ok && (user != want.Get("user") || string(password) != want.Get("password")) {
		t.Errorf("%q: got %q, %q, %v, want %v, %v", form, user, password, ok, want, err)
	}
}

// The cookies of the nodes on the ports of one host have different names.
func TestCookieNames(t *testing.T) {
	for host, want := range map[string]string{
		"localhost": "", "localhost:8332": "-8332", "[::1]:1": "-1", "a:65535": "-65535", "a:": "", "a:x1": "",
		"a:1x": "", "a:123456": "", "[::1]": "", "a:1:2": "", "": "",
	} {
		if got := cookieName(&http.Request{Host: host}); got != "trawl-session"+want {
			t.Errorf("%s: %s", host, got)
		}
	}
}

// By TLS the cookie has a name that browsers take from the host itself alone.
func TestHostCookie(t *testing.T) {
	n := start(t, rpc.Config{})
	b := n.browser(t)
	got := b.ask(t, http.MethodPost, "/ui/login", "user=u&password=p", "Origin", "https://"+n.addr)
	cookie, _, _ := strings.Cut(got.header.Get("Set-Cookie"), ";")
	if !strings.HasPrefix(cookie, "__Host-trawl-session-") {
		t.Fatal(got)
	}
	_, place, _ := strings.Cut(got.header.Get("Location"), "/ui/")
	b.place = strings.TrimSuffix(place, "/")
	if got := b.ask(t, http.MethodGet, "/ui/session", "", "Cookie", cookie); got.status != http.StatusOK {
		t.Error(got)
	}
}
