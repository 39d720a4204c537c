package browser

import (
	"net"
	"strconv"
	"testing"

	"github.com/btcsuite/btcd/wire"
	"github.com/chromedp/chromedp"
)

// testFailure: what the node cannot make is told while it lasts, and no longer.
func testFailure(_ *testing.T, w *world, b *tab, _ string) {
	b.visit("")
	b.wait(`document.getElementById('live').dataset.state === 'on'`)
	eval[any](b, `window.honest = fetch; window.fetch = async (url, init) => String(url).includes('ui/part/')
		? new Response('the node has <b>failed</b>', { status: 500 }) : honest(url, init)`)
	w.mine(1)
	b.waitText("#alert", "This is not up to date: the node has <b>failed</b>.")
	eval[any](b, `window.fetch = honest`)
	w.mine(1)
	b.wait(`document.getElementById('alert').childElementCount === 0`)
	var height int
	w.Get(&height, "getblockcount")
	b.waitText("#tip-height", strconv.Itoa(height))
}

// testSignedOut: a user who types on after the session has ended is told about
// the end.
func testSignedOut(_ *testing.T, w *world, b *tab, search string) {
	const ended = `window.fetch = async () => new Response('<!doctype html><p>Sign in', { status: 401 })`
	b.visit("ui/new")
	eval[any](b, ended)
	b.do(chromedp.SendKeys("#objects", "raw(51)"))
	b.waitText("#new-problem", "You are signed out.")
	eval[any](b, `document.getElementById('new-problem').textContent = ''`)
	b.do(chromedp.Click("#start-search"))
	b.waitText("#new-problem", "You are signed out.")
	b.visit("ui/search/" + search)
	b.wait(`document.getElementById('live').dataset.state === 'on'`)
	eval[any](b, ended)
	w.mine(1)
	b.waitText("#alert", "You are signed out")
	b.wait(`document.documentElement.classList.contains('stale')`)
	b.visit("")
}

// testSlow: news that come while the page waits for a slow answer are shown after it.
func testSlow(_ *testing.T, w *world, b *tab, _ string) {
	b.visit("")
	b.wait(`document.getElementById('live').dataset.state === 'on'`)
	eval[any](b, `window.asked = 0; window.honest = fetch; window.fetch = async (url, init) => {
		const answer = await honest(url, init);
		if (!String(url).includes('ui/part/')) return answer;
		asked++;
		return new Promise((done) => setTimeout(() => done(answer), 1500));
	}`)
	w.mine(1)
	b.wait(`asked > 0`)
	w.mine(1)
	var height int
	w.Get(&height, "getblockcount")
	b.waitText("#tip-height", strconv.Itoa(height))
	eval[any](b, `window.fetch = honest`)
}

// testPeer: the user agent of a peer is text, whatever it sends.
func testPeer(t *testing.T, w *world, b *tab, _ string) {
	t.Helper()
	b.visit("ui/peers")
	peer, err := net.Dial("tcp", w.P2P)
	if err != nil {
		t.Fatal(err)
	}
	defer peer.Close()
	none := wire.NewNetAddressIPPort(net.IPv4zero, 0, 0)
	version := wire.NewMsgVersion(none, none, 1, 0)
	version.UserAgent = hostile
	if err := wire.WriteMessage(peer, version, wire.ProtocolVersion, wire.TestNet); err != nil { // that of regtest
		t.Fatal(err)
	}
	b.waitText(".peers .agent", "onerror")
	b.clean()
}
