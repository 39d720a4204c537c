package browser

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

var update = flag.Bool("pictures", false, "write the pictures of docs/pictures anew")

// TestPictures takes the pictures of the manual; with -pictures it writes them.
func TestPictures(t *testing.T) {
	browser := launch(t)
	w := begin(t)
	w.Get(nil, "createwallet", "shop")
	for i, amount := range []string{"0.5", "1.25", "0.4", "0.75", "0.05", "0.9"} {
		var address string
		w.of("shop", &address, "getnewaddress", "order "+string(rune('A'+i)))
		w.of("miner", nil, "sendtoaddress", address, amount)
		w.mine(2 + i%3)
		if i == 3 {
			w.of("shop", nil, "sendtoaddress", w.miner, "0.6")
		}
	}
	w.Get(nil, "unloadwallet", hostile)
	var listed struct{ Descriptors []struct{ Desc string } }
	w.of("shop", &listed, "listdescriptors")
	var objects []string
	for _, d := range listed.Descriptors {
		objects = append(objects, d.Desc)
	}
	var made struct{ ID string }
	w.Get(&made, "createsearch", objects, map[string]any{"name": "Shop, all payments", "follow": true})
	w.Get(nil, "createsearch", objects[:1], map[string]any{"name": "Old addresses"})

	b := open(t, browser, w.page())
	b.look(1280, 800, "light")
	b.signIn(user)
	b.wait(`document.querySelectorAll('.searches .list > li').length === 2`)
	b.picture("overview.png")
	b.look(1280, 1000, "dark")
	b.visit("ui/search/" + made.ID)
	b.wait(`document.querySelectorAll('.area-box svg').length === 2 && document.querySelectorAll('#entries tr').length > 5`)
	b.wait(`document.getElementById('live').dataset.state === 'on'`)
	b.picture("search.png")
}

// picture takes a picture of the visible page.
func (b *tab) picture(name string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if len(png) < 10_000 {
		b.t.Errorf("the picture %s has %d bytes", name, len(png))
	}
	if *update {
		if err := os.WriteFile(filepath.Join("..", "..", "..", "docs", "pictures", name), png, 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
}
