package browser

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestLost: a page whose node cannot be reached says since when, looks fresh nowhere and has no button that calls. It
// is up to date when the node can be reached again.
func TestLost(t *testing.T) {
	browser := launch(t)
	w := begin(t)
	way := newTurn(t)
	way.lead(w.Addr)
	b := open(t, browser, "http://"+way.Addr().String()+"/")
	b.hushed = true // the browser tells of each try
	b.signIn(user)
	b.visit("ui/wallet/miner")
	const pressable = `document.querySelector('[data-call]:not(:disabled)')`
	b.wait(pressable)
	way.lead("127.0.0.1:1") // where nobody answers
	b.waitText("#alert", "No connection to the node since")
	b.wait(`document.documentElement.classList.contains('stale') && document.title.startsWith('⚠')`)
	b.waitText("#live", "not connected")
	if eval[bool](b, "!!"+pressable) {
		t.Error("a button of a node that is gone can be pressed")
	}
	w.mine(1)
	way.lead(w.Addr)
	b.do(chromedp.Click("#alert button"))
	b.wait(`!document.documentElement.classList.contains('stale') && !document.title.startsWith('⚠')`)
	b.wait(pressable)
	b.waitText(".tiles", "up to block 105")
}
