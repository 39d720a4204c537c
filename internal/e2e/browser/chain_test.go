package browser

import (
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"
)

// testChain: the box leads to blocks and transactions, whose pages lead on to each other. Waiting transactions are in
// the memory pool. The page of a block learns of the next block.
func testChain(t *testing.T, w *world, b *tab, _ string) {
	t.Helper()
	find := func(text string) {
		t.Helper()
		b.do(chromedp.KeyEvent("/"))
		b.wait(`document.activeElement.id === 'q'`)
		eval[any](b, `document.getElementById('q').value = ''`) // browsers of people type no "/" into it
		b.do(chromedp.KeyEvent(text), chromedp.KeyEvent("\r"))
	}
	b.visit("")
	find("105")
	b.waitText("h1", "Block 105")
	b.wait(`document.querySelectorAll('#txs tbody tr').length === 2`)
	b.do(chromedp.Click("#txs tbody tr:nth-child(2) a"))
	b.waitText("h1", "Transaction")
	b.waitText(".io.to", "0.50000000")
	b.wait(`document.querySelector('svg.flow path')`)
	b.do(chromedp.Click(".crumb a"))
	b.waitText("h1", "Block 105")
	var tip int
	w.Get(&tip, "getblockcount")
	b.visit("ui/block/" + strconv.Itoa(tip))
	b.waitText(".chip.good", "1 confirmation")
	var waits string
	w.of("miner", &waits, "sendtoaddress", w.miner, "1")
	find(waits)
	b.waitText(".chip.run", "waits in the memory pool")
	b.do(chromedp.Click(".crumb a"))
	b.wait(`document.getElementById('t` + waits + `')`)
	b.visit("ui/block/" + strconv.Itoa(tip))
	w.mine(1)
	b.waitText(".chip.good", "2 confirmations")
	find("xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi")
	b.waitText("#alert", "it was not sent")
	b.clean()
}
