package browser

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestShots takes pictures of all pages, to be looked at by people.
func TestShots(t *testing.T) {
	dir := os.Getenv("TRAWL_SHOTS")
	if dir == "" {
		t.Skip("TRAWL_SHOTS names no folder")
	}
	browser := launch(t)
	w := begin(t, "-txindex=1", "-txospenderindex=1")
	w.Get(nil, "unloadwallet", hostile)
	w.Get(nil, "createwallet", "shop")
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 40 {
		var address string
		w.of("shop", &address, "getnewaddress", fmt.Sprint("order ", i))
		for range 1 + random.IntN(4) {
			w.rated("miner", address, fmt.Sprintf("%.8f", 0.01+random.Float64()), 1+random.IntN(60))
		}
		if i%7 == 6 {
			w.rated("shop", w.miner, "0.6", 3+i)
		}
		w.mine(1)
	}
	var address, txid string
	w.of("shop", &address, "getnewaddress")
	txid = w.rated("shop", w.miner, "0.3", 12)
	w.mine(1)
	for range 9 {
		w.rated("miner", address, "0.12", 1+random.IntN(90))
	}
	var listed struct{ Descriptors []struct{ Desc string } }
	w.of("shop", &listed, "listdescriptors")
	var objects []any
	for _, d := range listed.Descriptors {
		objects = append(objects, map[string]any{"desc": d.Desc, "range": 50})
	}
	var made struct{ ID string }
	w.Get(&made, "createsearch", objects, map[string]any{"name": "Shop, all payments", "follow": true, "mempool": true})
	w.Get(nil, "createsearch", objects[:1], map[string]any{"name": "Old addresses"})
	w.Get(nil, "createsearch", []string{"addr(" + w.miner + ")"}, map[string]any{"name": "Mining", "entries": false})
	var best string
	w.Get(&best, "getbestblockhash")
	b := open(t, browser, w.page())
	b.hushed = true // the browser tells of the page that is not there
	b.look(1440, 900, "light")
	b.visit("")
	b.shot(dir, "login-1440-light.png")
	b.signIn(user)
	for name, path := range map[string]string{
		"overview": "", "searches": "ui/searches", "search": "ui/search/" + made.ID, "new": "ui/new", "wallets": "ui/wallets",
		"wallet": "ui/wallet/shop", "restore": "ui/restore", "peers": "ui/peers", "more": "ui/more", "find": "ui/find",
		"blocks": "ui/blocks", "block": "ui/block/" + best, "tx": "ui/tx/" + txid, "mempool": "ui/mempool",
		"unknown": "ui/block/99999",
	} {
		for _, size := range []struct{ w, h int64 }{{1440, 1700}, {390, 1500}} {
			for _, scheme := range []string{"light", "dark"} {
				if scheme == "dark" && size.w == 390 && name != "overview" && name != "tx" {
					continue
				}
				b.look(size.w, size.h, scheme)
				b.visit(path)
				b.wait(`document.getElementById('live').dataset.state === 'on'`)
				b.shot(dir, fmt.Sprintf("%s-%d-%s.png", name, size.w, scheme))
				if wide := eval[int64](b, `document.documentElement.scrollWidth`); wide > size.w {
					t.Errorf("/%s is %d pixels wide in a window of %d", path, wide, size.w)
				}
			}
		}
	}
}

// rated has a wallet pay with a fee rate, and returns the transaction's id.
func (w *world) rated(from, to, amount string, rate int) (txid string) {
	w.t.Helper()
	w.of(from, &txid, "sendtoaddress", to, amount, "", "", false, true, nil, "unset", false, rate)
	return txid
}

// shot writes a picture of the visible page.
func (b *tab) shot(dir, name string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), png, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
