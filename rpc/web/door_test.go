package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/rpc"
)

// Requests that browsers make for pages of other sites are refused on every path, with whatever login.
func TestOtherSites(t *testing.T) {
	n := start(t, rpc.Config{REST: true, AllowHosts: []string{"node.example"}})
	b := n.browser(t)
	b.login(t, "u", "p")
	basic := "Basic dTpw"
	paths := []string{
		"/", "/wallet/w", "/events", "/rest/chaininfo.json", "/health/live", "/health/ready", "/ui/call", "/ui/session",
		"/ui/assets/style.css", "/ui/login", "/ui/logout", "/ui/events", "/nothing",
	}
	const noSec = "an agent without any Sec-"
	spoofed := []string{"Host", "evil.example", "User-Agent", "curl/8", "Accept", "*/*"} // which Firefox lets pages do
	foreign := map[string][]string{
		"a form of another site":        {"Origin", "http://evil.example", "Sec-Fetch-Site", "cross-site"},
		"a fetch without CORS":          {"Origin", "", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"},
		"an old browser":                {"Origin", "http://evil.example", "Sec-Fetch-Site", ""},
		"another port of the host":      {"Origin", "http://127.0.0.1:3000", "Sec-Fetch-Site", "same-site"},
		"another port, by its site":     {"Origin", "", "Sec-Fetch-Site", "same-site"},
		"a frame without an origin":     {"Origin", "null", "Sec-Fetch-Site", "same-origin"},
		"a name that was made to lead":  {"Host", "evil.example", "Origin", "http://evil.example"},
		"that name, and no browser's":   {"Host", "evil.example", "Origin", "", "User-Agent", "x"},
		noSec:                           {"Host", "evil.example", "Origin", "", "Sec-Fetch-Site", ""},
		"a suffix of an allowed name":   {"Host", "x.node.example", "Origin", ""},
		"an agent that a page has set":  append(spoofed, "Origin", "http://evil.example", "Sec-Fetch-Site", ""),
		"a name that begins as allowed": {"Host", "node.example.evil", "Origin", ""},
	}
	for what, headers := range foreign {
		for _, path := range paths {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				if what == noSec && method == http.MethodPost {
					continue // browsers have an Origin with it
				}
				for _, login := range []string{"", basic} {
					got := b.ask(t, method, path, "", append(slices.Clone(headers), "Authorization", login)...)
					if got.status != http.StatusForbidden {
						t.Errorf("%s, %s %s with %q: %v", what, method, path, login, got.status)
					}
				}
			}
		}
	}
	if got := b.ask(t, http.MethodGet, "/", "", "Host", "node.example"); got.status == http.StatusForbidden {
		t.Error("a name of -rpcallowhost is refused")
	}
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "none"}, {"Sec-Fetch-Site", ""}, {"Host", "localhost"}, {"Host", "[::1]:8332"},
	} {
		if got := b.ask(t, http.MethodGet, "/health/live", "", headers...); got.status != http.StatusOK {
			t.Error(headers, got)
		}
	}
}

// Clients other than browsers are answered as without a page.
func TestNoBrowser(t *testing.T) {
	n := start(t, rpc.Config{})
	b := n.browser(t)
	plain := []string{"User-Agent", "curl/8", "Sec-Fetch-Site", "", "Origin", "", "Accept", ""}
	got := b.ask(t, http.MethodPost, "/", callOne, plain...)
	if got.status != http.StatusUnauthorized || got.header.Get("WWW-Authenticate") == "" {
		t.Error(got)
	}
	got = b.ask(t, http.MethodPost, "/", callOne, append(plain, "Authorization", "Basic dTpw", "Host", "evil.example")...)
	if got.status != http.StatusOK {
		t.Error(got)
	}
	if got = b.ask(t, http.MethodGet, "/", "", plain...); got.status != http.StatusMethodNotAllowed ||
		got.text != "JSONRPC server handles only POST requests" {
		t.Error(got)
	}
	for accept, status := range map[string]int{
		"*/*": 200, "text/html": 200, "image/png, text/html;q=0.5": 200, "TEXT/HTML": 200, "application/json": 405, "text/*": 405,
	} {
		got := b.ask(t, http.MethodGet, "/", "", append(plain, "Authorization", "Basic dTpw", "Accept", accept)...)
		if got.status != status {
			t.Error(accept, got.status)
		}
	}
}

// Every answer of the page says that nobody may frame it, guess its kind, or have scripts of elsewhere.
func TestHeaders(t *testing.T) {
	n := start(t, rpc.Config{})
	b := n.browser(t)
	b.login(t, "u", "p")
	refused := b.ask(t, http.MethodPost, "/ui/login", "%zz")
	if refused.status != http.StatusBadRequest || refused.text != "Bad Request\n" {
		t.Error("a form that cannot be read:", refused)
	}
	for _, path := range []string{"/", "/ui/session", "/ui/call", "/ui/nothing", "/ui/login", "/ui/assets/nothing", ""} {
		h := refused.header
		if path != "" {
			h = b.ask(t, http.MethodGet, path, "").header
		}
		for name, want := range map[string]string{
			"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control": "no-store", "Content-Security-Policy": contentPolicy,
			"Vary": "Accept, Accept-Encoding, Authorization, Cookie", // what decides on the answer
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q", path, name, h.Get(name))
			}
		}
	}
	for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(contentPolicy, part) || strings.Contains(contentPolicy, "unsafe") {
			t.Error(contentPolicy)
		}
	}
}

// A call with a session needs the token of that session, and an Origin that is the Host.
func TestToken(t *testing.T) {
	n := start(t, rpc.Config{})
	b, other := n.browser(t), n.browser(t)
	b.login(t, "u", "p")
	other.login(t, "u", "p")
	port := n.addr[strings.LastIndex(n.addr, ":"):]
	cookie := b.Jar.Cookies(&url.URL{Scheme: "http", Host: n.addr})[0].String()
	for what, headers := range map[string][]string{
		"no token":            {tokenHeader, ""},
		"a wrong one":         {tokenHeader, secret()},
		"another session's":   {tokenHeader, other.token},
		"no origin":           {"Origin", ""},
		"its own name twice":  {"Origin", "http://" + n.addr + ", http://" + n.addr},
		"an origin of a name": {"Origin", "http://node.example", "User-Agent", "x", "Sec-Fetch-Site", ""},
		"a host of that name": {
			"Origin", "http://node.example" + port, "Host", "node.example" + port, "Cookie", cookie, "User-Agent", "x",
			"Sec-Fetch-Site", "",
		},
		"the token's beginning": {tokenHeader, b.token[:20]},
	} {
		for _, path := range []string{"/ui/call", "/ui/call/wallet/w", "/ui/logout"} {
			got := b.ask(t, http.MethodPost, path, callOne, headers...)
			if got.status != http.StatusForbidden {
				t.Errorf("%s, %s: %v", what, path, got)
			}
		}
	}
	for _, path := range []string{"/", "/ui/session", "/ui/new", "/ui/part/index", "/ui/export", "/ui/events"} {
		got := b.ask(t, http.MethodGet, path, "",
			"Host", "node.example"+port, "Cookie", cookie, "User-Agent", "x", "Sec-Fetch-Site", "")
		if got.status != http.StatusForbidden {
			t.Errorf("a look at %s by another name: %v", path, got)
		}
	}
	if got := b.ask(t, http.MethodPost, "/ui/call", callOne); got.status != http.StatusOK {
		t.Error(got)
	}
	if got := b.ask(t, http.MethodGet, "/ui/call", ""); got.status != http.StatusMethodNotAllowed {
		t.Error(got)
	}
	if got := b.ask(t, http.MethodGet, "/ui/events?token="+other.token, ""); got.status != http.StatusForbidden {
		t.Error(got)
	}
	if got := b.ask(t, http.MethodGet, "/ui/events", "", "Sec-Fetch-Site", "none"); got.status != http.StatusForbidden {
		t.Error(got)
	}
}

// The cookie that a browser has before the login is none afterwards, whoever put it there.
func TestFixation(t *testing.T) {
	n := start(t, rpc.Config{})
	attacker := n.browser(t)
	attacker.login(t, "u", "p")
	planted := n.page.sessions.byKey
	if len(planted) != 1 {
		t.Fatal(planted)
	}
	b := n.browser(t)
	b.Jar = attacker.Jar
	b.login(t, "u", "p")
	if len(n.page.sessions.byKey) != 1 || b.token == attacker.token {
		t.Error("the old session goes on")
	}
	if got := attacker.ask(t, http.MethodPost, "/ui/call", callOne); got.status != http.StatusUnauthorized {
		t.Error("its token is still taken:", got)
	}
	form := "user=u&password=p"
	got := b.ask(t, http.MethodPost, "/ui/login", form, "Origin", "https://"+n.addr)
	cookie := got.header.Get("Set-Cookie")
	name := cookieName(&http.Request{Host: n.addr}) + "="
	for _, part := range []string{"HttpOnly", "SameSite=Strict", "Path=/", "Secure", name} {
		if !strings.Contains(cookie, part) {
			t.Errorf("%q lacks %s", cookie, part)
		}
	}
}

// Wrong logins are as slow as wrong logins with Basic, and count together.
func TestWrongLogins(t *testing.T) {
	n := start(t, rpc.Config{})
	b := n.browser(t)
	for _, form := range []string{"user=u&password=x", "user=&password=", "", "user=u%3Ap&password="} {
		began := time.Now()
		got := b.ask(t, http.MethodPost, "/ui/login", form)
		if got.status != http.StatusUnauthorized || time.Since(began) < 200*time.Millisecond ||
			got.header.Get("WWW-Authenticate") != "" || got.header.Get("Set-Cookie") != "" {
			t.Errorf("%q: %v after %v", form, got, time.Since(began))
		}
	}
	long := strings.Repeat("x", maxForm+1)
	if got := b.ask(t, http.MethodPost, "/ui/login", long); got.status != http.StatusRequestEntityTooLarge {
		t.Error(got)
	}
	if got := b.ask(t, http.MethodPost, "/ui/login", "user=u&password=p", "Origin", "", "User-Agent", "x"); got.status !=
		http.StatusForbidden {
		t.Error("a login that no page of this server makes:", got)
	}
}

// A session has the rights of its login, and ends when that is taken out.
func TestRights(t *testing.T) {
	c := rpc.Config{User: "u", Password: "p", Whitelist: []string{"u:one,who"}}
	n := start(t, c)
	b := n.browser(t)
	b.login(t, "u", "p")
	got := b.ask(t, http.MethodGet, "/ui/session", "")
	if !strings.Contains(got.text, `"methods":["one","who"]`) {
		t.Error(got)
	}
	other := strings.Replace(callOne, "one", "other", 1)
	if got := b.ask(t, http.MethodPost, "/ui/call", other); got.status != http.StatusForbidden {
		t.Error(got)
	}
	same := c
	if err := rpc.Reload(n.Server, &same); err != nil {
		t.Fatal(err)
	}
	if got := b.ask(t, http.MethodPost, "/ui/call", callOne); got.status != http.StatusOK {
		t.Error("after a reload of the same:", got)
	}
	changed := rpc.Config{User: "u", Password: "new"}
	if err := rpc.Reload(n.Server, &changed); err != nil {
		t.Fatal(err)
	}
	if len(n.page.sessions.byKey) != 0 {
		t.Error("the session goes on")
	}
	if got := b.ask(t, http.MethodPost, "/ui/call", callOne); got.status != http.StatusUnauthorized {
		t.Error("with a password that is none any more:", got)
	}
}

// Sessions are bounded, and end after an hour without use.
func TestSessionsEnd(t *testing.T) {
	n := start(t, rpc.Config{})
	b := n.browser(t)
	b.login(t, "u", "p")
	var visitor *rpc.Visitor
	for _, s := range n.page.sessions.byKey {
		visitor = s.visitor
	}
	synctest.Test(t, func(t *testing.T) {
		s := new(sessions)
		begun, cookie := s.begin(visitor)
		time.Sleep(idleTime - time.Second)
		if s.find(cookie, "", false) != begun || s.find(cookie+"x", "", false) != nil || s.find("", "", false) != nil {
			t.Error("not found")
		}
		time.Sleep(idleTime - time.Second)
		if s.find(cookie, "", false) != begun || begun.ended.Err() != nil {
			t.Error("ended although it was used")
		}
		time.Sleep(idleTime - time.Second)
		if s.find(cookie, "", true) != begun {
			t.Error("ended too early")
		}
		time.Sleep(2 * time.Second) // an idle request has kept nothing
		synctest.Wait()
		if begun.ended.Err() == nil || s.find(cookie, "", false) != nil || len(s.byKey)+len(s.byLogin) != 0 {
			t.Error("goes on after an hour")
		}
		first, _ := s.begin(visitor)
		for range 3 * maxLoginSessions {
			time.Sleep(time.Second)
			s.begin(visitor)
		}
		if len(s.byKey) != maxLoginSessions || first.ended.Err() == nil {
			t.Error(len(s.byKey), "sessions")
		}
		s.close()
		if none, _ := s.begin(visitor); none != nil || len(s.byKey) != 0 {
			t.Error("begins after the end")
		}
	})
}

// Requests that a page makes by itself, which it says in a header, use no session; all others do.
func TestIdleRequests(t *testing.T) {
	n := start(t, rpc.Config{})
	b := n.browser(t)
	b.login(t, "u", "p")
	if len(n.page.sessions.byKey) != 1 {
		t.Fatal("not one session")
	}
	var s *session
	for _, s = range n.page.sessions.byKey {
	}
	long := time.Now().Add(-idleTime / 2)
	for _, test := range []struct {
		header string
		uses   bool
	}{{"1", false}, {"", true}} {
		for _, path := range []string{"/", "/ui/call", "/ui/session"} {
			method, body := http.MethodGet, ""
			if path == "/ui/call" {
				method, body = http.MethodPost, callOne
			}
			n.page.sessions.mu.Lock()
			s.used = long
			n.page.sessions.mu.Unlock()
			if got := b.ask(t, method, path, body, "X-Trawl-Idle", test.header); got.status != http.StatusOK {
				t.Error(path, got)
			}
			n.page.sessions.mu.Lock()
			if s.used.After(long) != test.uses {
				t.Errorf("%s with %q: last used %v ago", path, test.header, time.Since(s.used))
			}
			n.page.sessions.mu.Unlock()
		}
	}
}

// FuzzDoor: no cookie, token, origin or path of somebody without a login reaches a method.
func FuzzDoor(f *testing.F) {
	page, err := New(Config{})
	if err != nil {
		f.Fatal(err)
	}
	s, err := rpc.NewServer(rpc.Config{User: "u", Password: "p", Page: page})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Shutdown(context.Background()) })
	f.Add("/ui/call", "trawl-session=x", "x", "http://127.0.0.1", "127.0.0.1")
	f.Add("/ui/call/wallet/%zz", "trawl-session-80=; a=b", "", "null", "[::1]:80")
	f.Add("/ui/../ui/session", "", "", "", "")
	f.Fuzz(func(t *testing.T, path, cookie, token, origin, host string) {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			r := &http.Request{
				Method: method, RequestURI: path, Host: host, RemoteAddr: "127.0.0.1:9", Body: http.NoBody,
				Header: http.Header{"Cookie": {cookie}, tokenHeader: {token}, "Origin": {origin}, "Accept": {"*/*"}},
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r.WithContext(t.Context()))
			open := strings.HasPrefix(path, "/ui/assets/") || strings.HasPrefix(path, "/health/") ||
				path == "/ui/logout"
			if w.Code < 400 && !open {
				t.Errorf("%s %q: %d", method, path, w.Code)
			}
		}
	})
}

// A context of two ends with either, and when it is given back.
func TestMergeCancel(t *testing.T) {
	for name, end := range map[string]func(one, other, back func()){
		"the one":    func(one, _, _ func()) { one() },
		"the other":  func(_, other, _ func()) { other() },
		"given back": func(_, _, back func()) { back() },
	} {
		one, endOne := context.WithCancel(t.Context())
		other, endOther := context.WithCancel(t.Context())
		merged, back := mergeCancel(one, other)
		if merged.Err() != nil {
			t.Error("ended from the start")
		}
		end(endOne, endOther, back)
		select {
		case <-merged.Done():
		case <-time.After(10 * time.Second):
			t.Errorf("%s: it goes on", name)
		}
		back()
		endOne()
		endOther()
	}
}
