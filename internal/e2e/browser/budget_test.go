package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

const (
	maxFirst = 60 << 10 // bytes of the form for signing in and the first page, with all that they load
	maxLater = 20 << 10 // bytes of each later page
	maxNodes = 2500     // elements of a page
)

// TestBudget: each page is few bytes on the wire, and nothing moves while it comes. Its first byte has the chosen
// theme and unit.
func TestBudget(t *testing.T) {
	browser := launch(t)
	w := begin(t)
	for range 12 {
		w.pay("0.01")
	}
	var made struct{ ID string }
	w.Get(&made, "createsearch", []string{w.desc}, map[string]any{"name": "all", "follow": true})
	b := open(t, browser, w.page())
	b.look(1280, 900, "light")
	const wire = `performance.getEntries().filter((e) => e.transferSize).reduce((sum, e) => sum + e.transferSize, 0)`
	const moved = `new Promise((done) => { let sum = 0; new PerformanceObserver((list) => list.getEntries().forEach((e) => (sum += e.value)))
		.observe({ type: 'layout-shift', buffered: true }); setTimeout(() => done(sum), 300) })`
	b.visit("")
	first := eval[int64](b, wire)
	b.signIn(user)
	first += eval[int64](b, wire)
	t.Logf("first load: %d bytes", first)
	if first > maxFirst {
		t.Errorf("the form for signing in and the first page are %d bytes", first)
	}
	for _, path := range w.paths(made.ID) {
		b.visit(path)
		b.wait(`document.getElementById('live').dataset.state === 'on'`)
		n := eval[int64](b, wire)
		nodes := eval[int](b, `document.querySelectorAll('*').length`)
		t.Logf("/%s: %d bytes, %d elements", path, n, nodes)
		if n > maxLater || nodes > maxNodes {
			t.Errorf("/%s is %d bytes and %d elements", path, n, nodes)
		}
		if shift := eval[float64](b, moved); shift > 0.01 {
			t.Errorf("/%s: its layout shifts by %v", path, shift)
		}
	}
	b.visit("")
	b.do(chromedp.Click(`.rail [name=unit][value=sat]`))
	b.wait(`document.querySelector('.rail [value=sat]')?.getAttribute('aria-pressed') === 'true'`)
	b.waitText(".wallets .list", "12,000,000sat")
	b.do(chromedp.Click(`.rail [name=theme][value=dark]`))
	b.wait(`document.documentElement.dataset.theme === 'dark' && getComputedStyle(document.body).backgroundColor === 'rgb(10, 16, 20)'`)
}
