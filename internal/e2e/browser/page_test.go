package browser

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/seed61375155/trawl/internal/e2e"
)

// TestPage is about one node with a search and wallets.
func TestPage(t *testing.T) {
	browser := launch(t)
	w := begin(t)
	w.pay("0.5")
	var made struct{ ID string }
	w.Get(&made, "createsearch", []string{w.desc}, map[string]any{"name": hostile, "follow": true})
	b := open(t, browser, w.page())
	b.signIn(user)
	for _, test := range []struct {
		name string
		run  func(t *testing.T, w *world, b *tab, search string)
	}{
		{"overview", testOverview},
		{"chain", testChain},
		{"peer", testPeer},
		{"failure", testFailure},
		{"slow answer", testSlow},
		{"signed out", testSignedOut},
		{"wallet", testWallet},
		{"abort", testAbort},
		{"restore", testRestore},
		{"accessible", testAccessible},
		{"keyboard", testKeyboard},
		{"widths", testWidths},
		{"prefix", testPrefix},
		{"tabs", testTabs},
		{"abort of a rescan", testAbortRescan}, // makes the chain so long that heights have commas
		{"whitelist", testWhitelist},           // ends the session
	} {
		t.Run(test.name, func(t *testing.T) {
			b.t, w.t = t, t
			test.run(t, w, b, made.ID)
			b.quiet()
		})
	}
	b.t = t
}

// testOverview: what is new comes by itself, and names stay text.
func testOverview(_ *testing.T, w *world, b *tab, _ string) {
	b.visit("")
	b.waitText(".searches .list", hostile)
	b.waitText(".wallets .list", hostile)
	w.mine(1)
	var height int
	w.Get(&height, "getblockcount")
	b.waitText("#tip-height", strconv.Itoa(height))
	w.Get(nil, "createwallet", "late <b>one</b>")
	b.waitText(".wallets .list", "late <b>one</b>")
	w.Get(nil, "unloadwallet", "late <b>one</b>")
	b.waitText("#unloaded summary", "1 wallet on the disk")
	b.do(chromedp.Click("#unloaded summary"), chromedp.Click("#unloaded [data-call=loadwallet]"))
	b.wait(`!document.getElementById('unloaded')`)
	w.Get(nil, "unloadwallet", "late <b>one</b>")
	b.clean()
}

// testWallet: balances and what addresses have received.
func testWallet(_ *testing.T, w *world, b *tab, _ string) {
	b.do(chromedp.Click(`.wallets a[href*="img"]`))
	b.waitText("h1", hostile)
	b.waitText("#wallet-balance", "0.50000000")
	b.waitText("[aria-labelledby=received-h] .label", hostile)
	b.waitText("[aria-labelledby=received-h] tbody", "0.50000000")
	w.pay("0.25")
	b.waitText("#wallet-balance", "0.75000000")
	b.do(chromedp.Click("[data-call=rescanblockchain]"))
	b.waitText("#said", "Rescan the chain: done")
	b.clean()
}

// paths are those of all pages.
func (w *world) paths(search string) []string {
	w.t.Helper()
	var block struct {
		Hash string
		Tx   []string
	}
	var hash string
	w.Get(&hash, "getblockhash", 105)
	w.Get(&block, "getblock", hash)
	return []string{
		"", "ui/searches", "ui/new", "ui/search/" + search, "ui/wallets", "ui/restore", "ui/wallet/" + url.PathEscape(hostile),
		"ui/peers", "ui/more", "ui/find", "ui/blocks", "ui/block/105", "ui/mempool",
		"ui/tx/" + block.Tx[len(block.Tx)-1] + "?block=" + hash,
	}
}

//go:embed testdata/axe/axe.min.js
var axe string

// testAccessible: axe-core finds nothing serious on any page, light and dark.
func testAccessible(t *testing.T, w *world, b *tab, search string) {
	t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		b.look(1280, 900, scheme)
		for _, path := range w.paths(search) {
			b.visit(path)
			b.wait(`document.getElementById('live').dataset.state === 'on'`)
			if path == "ui/new" {
				b.do(chromedp.SendKeys("#objects", "wpkh(x)\naddr(bcrt1q)\n"))
				b.wait(`document.querySelectorAll('#checked .bad').length === 2`)
			}
			b.accessible(t, scheme+" /"+path)
		}
	}
}

// accessible has axe-core look at what is shown.
func (b *tab) accessible(t *testing.T, where string) {
	t.Helper()
	for _, finding := range eval[[]string](b, axe+`;
		axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations
			.filter((v) => v.impact === 'serious' || v.impact === 'critical')
			.map((v) => [v.id, v.help, ...v.nodes.map((n) => n.html + ' ' + n.failureSummary)].join(': ')))`) {
		t.Errorf("%s: %s", where, finding)
	}
}

// testKeyboard: the first key leads to the content, and what has the focus is seen.
func testKeyboard(t *testing.T, w *world, b *tab, _ string) {
	t.Helper()
	b.look(1280, 900, "light")
	b.visit("")
	b.do(chromedp.KeyEvent("\t"))
	if text := eval[string](b, `document.activeElement.textContent`); text != "Skip to the content" {
		t.Errorf("the first key leads to %q", text)
	}
	b.do(chromedp.KeyEvent("\r"))
	b.wait(`location.hash === '#content'`)
	b.do(chromedp.KeyEvent("\t"))
	b.wait(`document.activeElement.closest('main')`)
	b.wait(`getComputedStyle(document.activeElement).outlineStyle === 'solid'`)
	// An element that stays is kept when another is inserted before it, or removed.
	kept := eval[string](b, `import('./ui/assets/morph.js').then(({ morph }) => {
		const make = (html) => new DOMParser().parseFromString(html, 'text/html').body;
		const parts = { a: '<p id="a"></p> ', b: '<p id="b"></p> ', c: '<p id="c"></p> ', '-': '<hr> ' };
		return ['a-c ab-c', 'ab-c a-c', 'ac- abc-', 'bc- ac-', '-c a-c', 'ab-c b-'].filter((change) => {
			const [from, to] = change.split(' ').map((order) => make([...order].map((part) => parts[part]).join('')));
			const stay = [...to.children].map((e) => from.querySelector(e.id ? '#' + e.id : 'hr'));
			const want = to.innerHTML;
			morph(from, to);
			return from.innerHTML !== want || stay.some((e, i) => e && e !== from.children[i]);
		}).join();
	})`)
	if kept != "" {
		t.Errorf("changes that keep not what stays: %s", kept)
	}
	// The focus stays where it is while the page changes.
	eval[any](b, `document.querySelector('.searches a.button').focus()`)
	var before int
	w.Get(&before, "getblockcount")
	w.mine(1)
	b.waitText("#tip-height", strconv.Itoa(before+1))
	if text := eval[string](b, `document.activeElement.textContent`); text != "New search" {
		t.Errorf("after news the focus is on %q", text)
	}
}

// testWidths: nothing is wider than the window, from a telephone to 4K.
func testWidths(t *testing.T, w *world, b *tab, search string) {
	t.Helper()
	for _, width := range []int64{390, 768, 1280, 3840} {
		b.look(width, 900, "light")
		for _, path := range w.paths(search) {
			b.visit(path)
			b.wait(`document.getElementById('live').dataset.state === 'on'`)
			if wide := eval[int64](b, `document.documentElement.scrollWidth`); wide > width {
				t.Errorf("/%s is %d pixels wide in a window of %d", path, wide, width)
			}
		}
	}
	b.look(1280, 900, "light")
}

// testPrefix: the page works below a path of a proxy.
func testPrefix(t *testing.T, w *world, b *tab, search string) {
	t.Helper()
	target, err := url.Parse(w.page())
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // for the Origin of the page
		},
		FlushInterval: -1,
	}
	server := httptest.NewServer(http.StripPrefix("/node", proxy))
	defer server.Close()
	defer server.CloseClientConnections() // streams do not end by themselves
	base, at := b.base, b.at
	defer func() {
		b.base, b.at = base, at
		b.visit("") // before the proxy goes
	}()
	b.base = server.URL + "/node/"
	b.signIn(user)
	b.do(chromedp.Click(".searches .list a.name"))
	b.wait(`document.querySelectorAll('#entries tbody tr').length > 0`)
	if path := eval[string](b, `location.pathname + location.search`); !strings.HasPrefix(path, "/node/ui/~") ||
		!strings.HasSuffix(path, "/ui/search/"+search) {
		t.Errorf("a link leads to %s", path)
	}
	b.do(chromedp.Click("[data-call=pausesearch]"))
	b.waitText(".state", "paused")
	b.do(chromedp.Click("[data-call=resumesearch]"))
	b.waitText(".state", "follows the chain")
	b.visit("")
	b.wait(`document.getElementById('live')?.dataset.state === 'on'`)
}

// testTabs: all tabs hear of news by one stream, even if there are more tabs than connections
// of a browser. Without SharedWorker, another tab takes over when the reading tab is closed.
func testTabs(t *testing.T, w *world, b *tab, _ string) {
	t.Helper()
	b.visit("") // it has the shared worker all the time
	b.wait(`document.getElementById('live')?.dataset.state === 'on'`)
	for worker, many := range map[bool]int{true: 8, false: 7} {
		streams := 2 // without the worker one of the tabs reads for the others
		if worker {
			streams = 1
		}
		tabs := make([]*tab, many)
		closers := make([]context.CancelFunc, len(tabs))
		for i := range tabs {
			ctx, cancel := context.WithCancel(b.ctx)
			tabs[i], closers[i] = open(t, ctx, b.base), cancel
			if !worker {
				tabs[i].inject("delete window.SharedWorker")
			}
			tabs[i].enter("")
		}
		seen := func(some []*tab) {
			w.mine(1)
			var height int
			w.Get(&height, "getblockcount")
			for _, one := range some {
				one.wake()
				one.waitText("#tip-height", strconv.Itoa(height))
			}
		}
		seen(tabs)
		w.readsBy(streams)
		// A browser opens six connections to a host: the seventh tab calls all the same.
		if status := eval[int](tabs[6], `fetch('ui/session').then(r => r.status)`); status != 200 {
			t.Errorf("the seventh tab is answered with %d", status)
		}
		closers[0]()
		seen(tabs[1:])
		w.readsBy(streams)
		for i := range tabs {
			closers[i]()
		}
	}
}

// readsBy waits until the page is read by so many streams of events.
func (w *world) readsBy(streams int) {
	w.t.Helper()
	var metrics []byte
	want := fmt.Appendf(nil, "\ntrawl_rpc_event_streams %d\n", streams)
	e2e.Eventually(w.t, patience, fmt.Sprintf("%d streams of events", streams), func() bool {
		request, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, "http://"+w.metrics+"/metrics", nil)
		if err != nil {
			w.t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			w.t.Fatal(err)
		}
		defer answer.Body.Close()
		if metrics, err = io.ReadAll(answer.Body); err != nil {
			w.t.Fatal(err)
		}
		return bytes.Contains(metrics, want)
	})
}

// inject runs a script before those of each page.
func (b *tab) inject(script string) {
	b.t.Helper()
	b.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		params := page.AddScriptToEvaluateOnNewDocumentParams{Source: script}
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, params)
		return chromedp.Void{}, err
	})
}

// wake brings the tab to the front, since a hidden tab makes no requests.
func (b *tab) wake() {
	b.t.Helper()
	b.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, page.BringToFront, cdp.Empty{})
		return chromedp.Void{}, err
	})
}

// testWhitelist: a user with few allowed methods sees no others.
func testWhitelist(t *testing.T, _ *world, b *tab, search string) {
	t.Helper()
	b.visit("")
	b.do(chromedp.Click(".out button"), chromedp.WaitVisible("#user"))
	b.signIn(guest)
	b.waitText(".searches .list", hostile)
	for _, hidden := range []string{".wallets", "[data-call]", "a[href*=new]", "a[href*=restore]", "a[href*=peers]"} {
		if eval[bool](b, fmt.Sprintf("!!document.querySelector(%s)", quote(hidden))) {
			t.Errorf("the guest sees %s", hidden)
		}
	}
	b.visit("ui/search/" + search)
	b.waitText("h1", hostile)
	if eval[bool](b, `!!document.querySelector('#entries, #balance, [data-call], a[download]')`) {
		t.Error("the guest sees entries or buttons")
	}
	for path, status := range map[string]int{
		"ui/new": 403, "ui/wallet?name=miner": 403, "ui/part/wallet/miner": 403, "ui/wallets": 403, "ui/peers": 403,
		"ui/export?format=csv&id=" + search: 403, "ui/part/search/" + search: 200,
	} {
		got := eval[int](b, fmt.Sprintf("fetch(%s).then(r => r.status)", quote(b.at+path)))
		if got != status {
			t.Errorf("/%s is answered with %d", path, got)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := len(b.messages) - 1; i >= 0; i-- { // the browser tells of those
		if strings.Contains(b.messages[i], "403 (Forbidden)") {
			b.messages = append(b.messages[:i], b.messages[i+1:]...)
		}
	}
}
