package browser

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// A tab is one of a browser, with the page of a node. Its methods belong to the goroutine of the test.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string // address of the page
	at   string // where the pages of the session are; empty: nobody has signed in

	hushed bool // what the console says is no failure

	mu       sync.Mutex
	messages []string // that the console had and should not have
}

// open opens a tab of a browser on a page of a node.
func open(t *testing.T, browser context.Context, base string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx, base: base}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			b.hear(&m)
		}
	}()
	t.Cleanup(b.quiet)
	return b
}

// hear keeps a message of the console that should not be there. Where a login is missing the
// browser says so by itself.
func (b *tab) hear(m *chromedp.ConsoleMessage) {
	unexpected := m.Type == chromedp.ConsoleError || m.Type == chromedp.ConsoleWarning || m.IsException() ||
		m.Source == "security" || strings.Contains(m.Text, "Content Security Policy")
	if !unexpected || m.Source == "network" && strings.Contains(m.Text, "401 (Unauthorized)") {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages = append(b.messages, fmt.Sprintf("%s %s (%s:%d)", m.Type, m.Text, m.URL, m.Line))
}

// quiet fails the test where the console had something to say.
func (b *tab) quiet() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.hushed {
		return
	}
	for _, m := range b.messages {
		b.t.Error("console: ", m)
	}
}

// do takes steps, each within the test's patience.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%v\n%s", err, b.dump())
	}
}

// dump is what the page says now.
func (b *tab) dump() string {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText`))
	if err != nil {
		return err.Error()
	}
	return text
}

// visit loads a page by its address below that of the session, as its links do, or else of the node.
func (b *tab) visit(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(cmp.Or(b.at, b.base) + path))
}

// signIn fills in the form and waits for the page behind it.
func (b *tab) signIn(name string) {
	b.t.Helper()
	b.at = ""
	b.visit("")
	b.do(
		chromedp.SendKeys("#user", name), chromedp.SendKeys("#password", password),
		chromedp.Click(".login button"), chromedp.WaitVisible("#live[data-state=on]"),
	)
	b.arrived()
}

// enter goes to a page by its address below that of the node, where another tab has signed in: the form for
// signing in leads on to the session by itself.
func (b *tab) enter(path string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	err := chromedp.Do(ctx, chromedp.Navigate(b.base+path))
	if err != nil && !strings.Contains(err.Error(), "net::ERR_ABORTED") { // the form leads on before it is loaded
		b.t.Fatal(err)
	}
	b.wait(`document.getElementById('live')?.dataset.state === 'on'`)
	b.arrived()
}

// arrived notes where the pages of the session are.
func (b *tab) arrived() {
	b.t.Helper()
	b.at = eval[string](b, `new URL(document.documentElement.dataset.base, location.href).href`)
}

// eval returns the value of an expression of JavaScript; a promise is waited for.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v\n%s", expression, err, b.dump())
	}
	return value
}

// wait waits until an expression of JavaScript is true.
func (b *tab) wait(expression string) {
	b.t.Helper()
	for end := time.Now().Add(patience); ; {
		ctx, cancel := context.WithTimeout(b.ctx, patience)
		is, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		cancel()
		if is {
			return
		}
		if time.Now().After(end) { // an error may come while another page is loaded
			b.t.Fatalf("not within %v: %s: %v\n%s", patience, expression, err, b.dump())
		}
		time.Sleep(30 * time.Millisecond)
	}
}

// waitText waits until an element has a text in it.
func (b *tab) waitText(selector, text string) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelector(%s)?.textContent.includes(%s)`, quote(selector), quote(text)))
}

// quote writes a text, or a table of texts, as a script has it.
func quote[T string | map[string]string](value T) string {
	b, err := json.Marshal(value)
	if err != nil {
		panic(err) // texts
	}
	return string(b)
}

// look sets the size of the window and the colour scheme.
func (b *tab) look(width, height int64, scheme string) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height), func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return chromedp.Void{}, err
	})
}
