package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestSearch starts a search from a descriptor, watches it, follows the chain, exports, pauses, aborts and
// removes it.
func TestSearch(t *testing.T) {
	browser := launch(t)
	w := begin(t)
	w.pay("0.5")
	w.pay("0.25")
	w.spend("0.1")
	b := open(t, browser, w.page())
	b.signIn(user)
	b.waitText(".searches .empty", "There is no search yet")

	// The form, by the keyboard alone, with a wrong line first.
	b.visit("ui/new")
	b.do(chromedp.SendKeys("#objects", "wpkh(nothing)"))
	b.waitText("#checked .bad", "wpkh(): key 'nothing' is not valid")
	b.do(chromedp.Click("#start-search"))
	b.waitText("#new-problem", "not understood")
	eval[any](b, `document.getElementById('objects').value = ''`)
	b.do(chromedp.SendKeys("#objects", w.desc))
	b.waitText("#checked .good", "Descriptor")
	b.wait(`document.querySelector('#checked .sample').textContent.includes('bcrt1q')`)
	b.wait(`!document.getElementById('range-field').hidden && document.getElementById('last').value === '999'`)
	b.do(chromedp.Click("[data-last='99']"))
	b.waitText("#scripts", "100 scripts")
	b.do(chromedp.SendKeys("#name", hostile), chromedp.Click("[name=follow]"), chromedp.Click("#start-search"))

	// Entries found, and a new entry. The sums are those of the entries.
	b.waitText("h1", hostile)
	b.rows(3)
	b.waitText("#entries-count", "3")
	b.waitText("#entries tr.spend .amt", "−0.")
	b.waitText(".state", "follows the chain")
	b.wait(`document.querySelectorAll('.area-box svg').length === 2`)
	b.sums()
	w.pay("0.125")
	b.rows(4)
	b.waitText("#entries tbody tr:first-child .amt", "+0.12500000")
	b.sums()
	// A plot tells the block under the pointer, and by the arrow keys the one before.
	b.do(chromedp.Focus("[data-plot]"))
	eval[any](b, `(() => { const plot = document.querySelector('[data-plot]'), at = plot.getBoundingClientRect();
		plot.dispatchEvent(new PointerEvent('pointermove', { clientX: at.right, clientY: at.top + 5 })) })()`)
	b.waitText(".tipbox", "0.12500000")
	b.do(chromedp.KeyEvent(kb.ArrowLeft))
	b.waitText(".tipbox", "Spent")
	b.do(chromedp.Click(`.seg a[href*="axis=time"]`))
	b.wait(`location.search === '?axis=time' && document.querySelectorAll('.area-box svg').length === 2`)

	// A block that leaves the chain takes its payment away.
	var tip string
	w.Get(&tip, "getbestblockhash")
	balance := eval[int64](b, `Number(document.querySelector('#balance .amt').dataset.sat)`)
	w.Get(nil, "invalidateblock", tip)
	b.wait(`document.querySelectorAll('#entries tr.disconnect').length === 1`)
	b.wait(fmt.Sprintf(`Number(document.querySelector('#balance .amt').dataset.sat) === %d`, balance-12_500_000))
	w.Get(nil, "reconsiderblock", tip)
	b.wait(fmt.Sprintf(`Number(document.querySelector('#balance .amt').dataset.sat) === %d`, balance))

	exported := func(format, as string) string {
		return `fetch(document.querySelector('a[download][href*=` + format + `]').href).then(r => r.` + as + `())`
	}
	text := eval[string](b, exported("csv", "text"))
	if strings.Count(text, "\n") != 7 || !strings.HasPrefix(text, "type,height,") {
		t.Errorf("the table is\n%s", text)
	}
	if n := eval[int](b, exported("json", "json")+`.then(l => l.length)`); n != 6 {
		t.Errorf("%d entries are exported as JSON", n)
	}

	// Buttons work by the keyboard, and the focus stays in the content when the pressed button disappears.
	for _, step := range []struct{ method, state string }{
		{"pausesearch", "paused"}, {"resumesearch", "follows the chain"}, {"abortsearch", "aborted"},
	} {
		b.wait(`document.querySelector('[data-call=` + step.method + `]:not(:disabled)')`)
		eval[any](b, `document.querySelector('[data-call=`+step.method+`]').focus()`)
		b.do(chromedp.KeyEvent("\r"))
		b.waitText(".state", step.state)
		b.wait(`!document.querySelector('[data-call=` + step.method + `]')`)
		b.wait(`document.activeElement.closest('main')`)
	}
	b.do(chromedp.Click("[data-call=removesearch]"), chromedp.WaitVisible("#confirm"))
	b.waitText("#confirm-text", hostile)
	b.do(chromedp.Click("#confirm-yes"))
	b.wait(`location.pathname.endsWith('/ui/searches') && document.querySelector('.searches .empty')`)
	b.clean()
}

// rows waits until the page lists so many entries.
func (b *tab) rows(want int) {
	b.t.Helper()
	b.wait(fmt.Sprintf(`document.querySelectorAll('#entries tbody tr').length === %d`, want))
}

// sums fails the test where the tiles do not add up the entries.
func (b *tab) sums() {
	b.t.Helper()
	b.wait(`(() => {
		const sats = [...document.querySelectorAll('#entries .p2 .amt')].map((e) => Number(e.dataset.sat));
		const sum = (list) => list.reduce((a, n) => a + n, 0);
		const tile = (id) => Number(document.querySelector(id + ' .amt').dataset.sat);
		return sum(sats) === tile('#balance') && sum(sats.filter((n) => n > 0)) === tile('#received') &&
			-sum(sats.filter((n) => n < 0)) === tile('#spent');
	})()`)
}

// clean fails the test where a name has become markup.
func (b *tab) clean() {
	b.t.Helper()
	if eval[bool](b, `!!document.querySelector('main img, main script, main [onerror]')`) {
		b.t.Errorf("a name has become markup:\n%s", b.dump())
	}
}

// TestKey makes descriptors of an extended public key.
func TestKey(t *testing.T) {
	browser := launch(t)
	w := begin(t)
	w.pay("0.5")
	b := open(t, browser, w.page())
	b.look(1280, 900, "light")
	b.signIn(user)
	b.visit("ui/new")
	key := w.desc[strings.Index(w.desc, "[")+1:]
	key = key[strings.Index(key, "]")+1:]
	key, _, _ = strings.Cut(key, "/")
	b.do(chromedp.SendKeys("#objects", key))
	b.wait(`document.querySelectorAll('#checked .choice').length === 4`)
	b.waitText("#scripts", "8,000 scripts")
	for _, name := range []string{"pkh(", "sh(wpkh(", "tr("} {
		b.do(chromedp.Click(`[name=desc][value^="` + name + `"]`))
	}
	b.waitText("#scripts", "2,000 scripts")
	b.do(chromedp.Click("#start-search"))
	b.rows(1)
	b.waitText(".state", "done")
}
