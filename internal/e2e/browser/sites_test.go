package browser

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// A site is a web server of somebody else on this machine. It has an empty page, and a page that frames the
// addresses in its query. Below /node/ it is a proxy of the node; /to sends a request on to another address.
type site struct{ port string }

func newSite(t *testing.T, w *world) site {
	t.Helper()
	node, err := url.Parse(w.page())
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprint(out, "<!doctype html><link rel=icon href='data:,'><title>elsewhere</title><body>elsewhere")
		for _, framed := range r.URL.Query()["frame"] {
			_, _ = fmt.Fprintf(out, "<iframe src='%s'></iframe>", framed)
		}
	})
	mux.HandleFunc("/to", func(out http.ResponseWriter, r *http.Request) {
		http.Redirect(out, r, r.URL.Query().Get("url"), http.StatusTemporaryRedirect)
	})
	mux.Handle("/node/", http.StripPrefix("/node", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(node)
		r.Out.Host = r.In.Host
	}}))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return site{port}
}

// at is the address of the site under a name or an address of this machine.
func (s site) at(host string) string { return "http://" + net.JoinHostPort(host, s.port) + "/" }

// Names that their owners have lead to this machine: one always, and one first to a site, then to the node.
const (
	evil    = "evil.example"
	rebound = "rebound.example"
)

// A turn passes connections to the address that the name rebound stands for at the time.
type turn struct {
	net.Listener

	mu    sync.Mutex
	to    string // host:port
	conns []net.Conn
}

func newTurn(t *testing.T) *turn {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &turn{Listener: l}
	t.Cleanup(func() { l.Close(); p.lead("") })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			p.join(c)
		}
	}()
	return p
}

func (p *turn) join(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	out, err := net.Dial("tcp", p.to) //nolint:noctx // to this machine
	if err != nil {
		c.Close()
		return
	}
	p.conns = append(p.conns, c, out)
	go func() { _, _ = io.Copy(out, c); out.Close() }()
	go func() { _, _ = io.Copy(c, out); c.Close() }()
}

// lead changes where the name leads, and ends what is connected.
func (p *turn) lead(to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to = to
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}

// otherSite launches a browser that knows these names, and keeps frames where a test sees them.
func otherSite(t *testing.T, p *turn) context.Context {
	t.Helper()
	return launch(t, chromedp.Flag("host-resolver-rules", "MAP "+evil+" 127.0.0.1, MAP "+rebound+" "+p.Addr().String()),
		chromedp.Flag("disable-features", "IsolateOrigins,site-per-process"),
		chromedp.Flag("disable-site-isolation-trials", true))
}

// newWallet is a call that leaves a wallet behind.
func newWallet(name string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"createwallet","params":[` + quote(name) + `]}`
}

// TestOtherSites: while somebody is logged in, foreign pages get nothing from the node and change nothing.
// Foreign are another site, another port of the same host, and a name that was made to lead to the node, before or
// while its page is shown.
func TestOtherSites(t *testing.T) {
	names := newTurn(t)
	browser := otherSite(t, names)
	w := begin(t, "-rest=1")
	s := newSite(t, w)
	hushed := func(t *testing.T, from string) *tab {
		t.Helper()
		b := open(t, browser, from)
		b.hushed = true // the browser tells of each refusal
		return b
	}
	own := open(t, browser, w.page())
	own.signIn(user)
	wallets := func() (names []string) {
		w.Get(&names, "listwallets")
		slices.Sort(names)
		return names
	}
	// The call that the other pages try is valid: from the node's own page it makes a wallet.
	if status := eval[int](own, `fetch('ui/call', { method: 'POST', body: `+quote(newWallet("own"))+
		`, headers: { 'X-Trawl-Token': document.documentElement.dataset.token } }).then(r => r.status)`); status != 200 {
		t.Fatalf("a call of the page is answered with %d", status)
	}
	before := wallets()
	if !slices.Contains(before, "own") {
		t.Fatalf("there are %q", before)
	}
	for _, test := range []struct {
		name, from string
		run        func(b *tab, node string)
	}{
		{"forms of another site", s.at(evil), (*tab).sendForms},
		{"forms of another port", s.at("127.0.0.1"), (*tab).sendForms},
		{"requests of another site", s.at(evil), (*tab).sendRequests},
		{"requests of another port", s.at("127.0.0.1"), (*tab).sendRequests},
		{"a name that leads to the node", strings.Replace(w.page(), "127.0.0.1", evil, 1), (*tab).rebind},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := hushed(t, test.from)
			test.run(b, w.page())
			w.t, own.t = t, t
			if after := wallets(); !slices.Equal(after, before) {
				t.Errorf("there are %q", after)
			}
			if status := eval[int](own, `fetch('ui/session').then(r => r.status)`); status != 200 {
				t.Errorf("the session is answered with %d afterwards", status)
			}
		})
	}
	w.t, own.t = t, t
	t.Run("a name that changes its address", func(t *testing.T) {
		_, port, _ := net.SplitHostPort(strings.Trim(strings.TrimPrefix(w.page(), "http://"), "/"))
		names.lead(net.JoinHostPort("127.0.0.1", s.port))
		b := hushed(t, "http://"+net.JoinHostPort(rebound, port)+"/")
		b.visit("")
		if got := eval[string](b, `document.title`); got != "elsewhere" {
			t.Fatalf("the page is %q", got)
		}
		names.lead(net.JoinHostPort("127.0.0.1", port))
		b.requestOwn()
		w.t = t
		if after := wallets(); !slices.Equal(after, before) {
			t.Errorf("there are %q", after)
		}
	})
	w.t, own.t = t, t
	t.Run("frames", func(t *testing.T) { testFrames(t, hushed, w, s) })
}

// refusal is what the node says to browsers that ask for the page of another site.
const refusal = "this request comes from another web site"

// sendForms has a page post forms to the node, at once and by way of a redirection. The browser shows what it answers.
func (b *tab) sendForms(node string) {
	b.t.Helper()
	call := newWallet("form")
	for _, path := range []string{"", "wallet/miner", "ui/call", "ui/logout", "ui/upload/restore", "ui/login"} {
		fields := map[string]string{"user": user, "password": password, "name": "form"}
		kind := "application/x-www-form-urlencoded"
		if path != "ui/login" && !strings.HasPrefix(path, "ui/upload") {
			kind = "text/plain" // of which a form makes any text with an equals sign in it
			fields = map[string]string{call[:len(call)-1] + `,"x":"`: `"}`}
		}
		for _, action := range []string{node + path, "to?url=" + url.QueryEscape(node+path)} {
			b.visit("")
			b.sendForm(action, kind, fields)
		}
	}
}

// sendForm has a page post a form, which the node refuses.
func (b *tab) sendForm(action, kind string, fields map[string]string) {
	b.t.Helper()
	status := b.answered(fmt.Sprintf(`(() => {
		const form = document.createElement('form');
		form.method = 'post';
		form.action = %s;
		form.enctype = %s;
		for (const [name, value] of Object.entries(%s)) {
			const field = document.createElement('input');
			Object.assign(field, { type: 'hidden', name, value });
			form.append(field);
		}
		document.body.append(form);
		form.submit();
	})()`, quote(action), quote(kind), quote(fields)))
	if text := eval[string](b, `document.body.innerText`); status != 403 || !strings.Contains(text, refusal) {
		b.t.Errorf("a form to %s is answered with %d %q", action, status, text)
	}
}

// answered takes a step that leads to another page, and returns that page's status.
func (b *tab) answered(expression string) (status int64) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	response, err := chromedp.RunResponse(ctx, func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Evaluate[any](expression)(ctx, t)
		return chromedp.Void{}, err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return response.Status
}

// sendRequests has a page request forbidden resources, in all ways that a script has.
func (b *tab) sendRequests(node string) {
	b.t.Helper()
	var mu sync.Mutex
	statuses := map[string]int64{}
	err := chromedp.Listen(b.ctx, func(event any) {
		if got, ok := event.(*network.EventResponseReceived); ok && strings.HasPrefix(got.Response.URL, node) {
			mu.Lock()
			defer mu.Unlock()
			statuses[strings.TrimPrefix(got.Response.URL, node)] = got.Response.Status
		}
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.visit("")
	call := quote(newWallet("fetch"))
	want := 0
	for _, step := range []string{
		`fetch(node + '?post', { method: 'POST', mode: 'no-cors', credentials: 'include', body: call }).then(r => r.type)`,
		`fetch(node + 'ui/call', { method: 'POST', mode: 'no-cors', credentials: 'include', body: call }).then(r => r.type)`,
		`fetch(node + 'ui/logout', { method: 'POST', mode: 'no-cors', credentials: 'include' }).then(r => r.type)`,
		`fetch(node + 'ui/session', { mode: 'no-cors', credentials: 'include' }).then(r => r.type)`,
		`fetch(node + 'rest/chaininfo.json', { mode: 'no-cors' }).then(r => r.type)`,
		`fetch(node + 'health/ready', { mode: 'no-cors' }).then(r => r.type)`,
		`fetch(node + 'ui/', { credentials: 'include' }).catch(() => 'refused')`,
		`fetch(node + 'ui/call?login', { method: 'POST', body: call, headers: { Authorization: 'Basic ' + btoa(login), ` +
			`'X-Trawl-Token': 'x' } }).catch(() => 'refused')`,
		`new Promise((done) => { const i = new Image(); i.onload = i.onerror = (e) => done(e.type); i.src = node + 'ui/assets/icon.svg' })`,
		`fetch(redirected('ui/call?redirected'), { method: 'POST', mode: 'no-cors', credentials: 'include', body: call })` +
			`.then(r => r.type)`,
		`new Promise((done) => { const i = new Image(); i.onload = i.onerror = (e) => done(e.type); ` +
			`i.src = redirected('ui/assets/icon.svg?redirected') })`,
		`new Promise((done) => { const s = document.createElement('script'); s.onload = s.onerror = (e) => done(e.type); ` +
			`s.src = node + 'ui/session?script'; document.head.append(s) })`,
		`new Promise((done) => { const e = new EventSource(node + 'ui/events', { withCredentials: true }); e.onopen = ` +
			`e.onerror = (e) => done(e.type) })`,
		`Promise.resolve(String(navigator.sendBeacon(node + 'ui/call?beacon', call)))`,
	} {
		want++
		got := eval[string](b, fmt.Sprintf(`{ const node = %s, login = %s, call = %s;
			const redirected = (path) => '/to?url=' + encodeURIComponent(node + path); %s.then(String) }`,
			quote(node), quote(user+":"+password), call, step))
		if !slices.Contains([]string{"opaque", "refused", "error", "true"}, got) {
			b.t.Errorf("%s gives %q", step, got)
		}
	}
	b.wait(`true`) // so that what has come is told
	mu.Lock()
	defer mu.Unlock()
	if len(statuses) < want-3 { // what CORS or a beacon ends in is not told
		b.t.Errorf("%d of %d requests were answered: %v", len(statuses), want, statuses)
	}
	for path, status := range statuses {
		if status < 400 {
			b.t.Errorf("/%s is answered with %d", path, status)
		}
	}
}

// rebind makes requests under a name that leads to the node: to the browser, page and node are the same site.
func (b *tab) rebind(string) {
	b.t.Helper()
	if status := b.answered(`location.assign(` + quote(b.base) + `)`); status != 403 {
		b.t.Errorf("the page is answered with %d", status)
	}
	b.requestOwn()
}

// requestOwn makes requests for what the page takes to be its own site.
func (b *tab) requestOwn() {
	b.t.Helper()
	for _, step := range []string{
		`fetch('/')`, `fetch('/ui/session')`, `fetch('/ui/assets/page.js')`, `fetch('/rest/chaininfo.json')`, `fetch('/health/live')`,
		`fetch('/ui/login', { method: 'POST', body: new URLSearchParams({ user: ` + quote(user) + `, password: ` + quote(password) + ` }) })`,
		`fetch('/', { method: 'POST', body: ` + quote(newWallet("bound")) + `, headers: { ` +
			`Authorization: 'Basic ' + btoa(` + quote(user+":"+password) + `) } })`,
	} {
		got := eval[string](b, step+`.then(async (r) => r.status + ' ' + await r.text())`)
		if !strings.HasPrefix(got, "403 ") || !strings.Contains(got, refusal) {
			b.t.Errorf("%s gives %q", step, got)
		}
	}
}

// testFrames: no page can frame a node's page, wherever it is from, even if a proxy serves both.
func testFrames(t *testing.T, open func(*testing.T, string) *tab, w *world, s site) {
	t.Helper()
	for name, test := range map[string]struct{ from, node string }{
		"another site":      {s.at(evil), w.page()},
		"another port":      {s.at("127.0.0.1"), w.page()},
		"the same, proxied": {s.at("127.0.0.1"), s.at("127.0.0.1") + "node/"},
	} {
		b := open(t, test.from)
		harmless := test.from + "?harmless"
		query := url.Values{"frame": {harmless, test.node, test.node + "ui/new", test.node + "ui/assets/icon.svg"}}
		b.visit("?" + query.Encode())
		shown := b.frames()
		if want := []string{harmless, "", "", ""}; !slices.Equal(shown, want) {
			t.Errorf("%s frames %q", name, shown)
		}
	}
}

// frames returns what the frames of a page show, by their addresses; empty where the browser refused that.
func (b *tab) frames() (shown []string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	tree, err := chromedp.Run(ctx, func(ctx context.Context, t *chromedp.Target) (*page.FrameTree, error) {
		got, err := cdp.Call(ctx, t, page.GetFrameTree, cdp.Empty{})
		return got.FrameTree, err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, child := range tree.ChildFrames {
		if child.Frame.UnreachableURL != "" {
			shown = append(shown, "")
		} else {
			shown = append(shown, child.Frame.URL)
		}
	}
	return shown
}
