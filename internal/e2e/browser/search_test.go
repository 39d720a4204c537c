package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
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

	// Entries found, and a new entry.
	b.waitText("h1", hostile)
	b.wait(`document.querySelectorAll('#entries tr').length === 3`)
	b.waitText("#entries-count", "3 entries")
	b.waitText("#entries tr.spend .amount", "−0.")
	b.waitText(".state", "following")
	b.wait(`document.querySelector('#flow canvas') && document.querySelector('#balance canvas')`)
	b.waitText("#flow-text", "3 hits in 3 blocks")
	w.pay("0.125")
	b.wait(`document.querySelectorAll('#entries tr').length === 4`)
	b.waitText("#entries tr:first-child .amount", "+0.12500000")
	b.waitText("#flow-text", "4 hits in 4 blocks")
	// The numbers of the plots: decimals of ticks, and where columns are from.
	const numbers = `import(document.querySelector('script[type=module]').src.replace('page.js', 'bins.js')).then((m) => {
		const blocks = [100, 101, 103, 109].map((height) => ({ height, hits: 1, received: height, spent: 1 }));
		const { columns } = m.bins(blocks, (p) => p.height, 3);
		const text = columns.map((c) => m.spanText(c, String) + ': ' + c.received);
		return [[2.5, 0.25, 20, 1e-8].map(m.decimals).join(' '), ...text].join('; ');
	})`
	if got := eval[string](b, numbers); got != "1 2 0 8; 100 to 103 (sum of 3 blocks): 304; 109: 109" {
		t.Errorf("numbers of the plots: %s", got)
	}
	b.do(chromedp.Click("input[value=time]"))
	b.wait(`document.querySelector('#flow .u-legend').textContent.includes('time')`)

	// A block that leaves the chain takes its payment away.
	var tip string
	w.Get(&tip, "getbestblockhash")
	w.Get(nil, "invalidateblock", tip)
	b.wait(`document.querySelectorAll('#entries tr.disconnect').length === 1`)
	b.waitText("#flow-text", "3 hits in 3 blocks")
	w.Get(nil, "reconsiderblock", tip)
	b.waitText("#flow-text", "4 hits in 4 blocks")

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
		{"pausesearch", "paused"}, {"resumesearch", "following"}, {"abortsearch", "aborted"},
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
	b.wait(`location.pathname.endsWith('/') && document.querySelector('.searches .empty')`)
	b.clean()
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
	b.wait(`document.querySelectorAll('#entries tr').length === 1`)
	b.waitText(".state", "done")
}
