package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/seed61375155/trawl/internal/e2e"
)

// testRestore: a backup that is uploaded is shown, and restored; nothing of it stays. So is one on the
// node's machine.
func testRestore(t *testing.T, w *world, b *tab, _ string) {
	t.Helper()
	backup := filepath.Join(t.TempDir(), "named <i>after.it.dat")
	w.of(hostile, nil, "backupwallet", backup)
	for _, name := range []string{"sent <b>over</b>", "read there", "named <i>after.it"} {
		b.visit("ui/restore")
		if name == "read there" {
			b.do(chromedp.SendKeys("#file", backup))
		} else {
			b.do(chromedp.SetUploadFiles("#backup", []string{backup}))
		}
		if !strings.HasPrefix(name, "named") {
			b.do(chromedp.SendKeys("#name", name))
		}
		b.do(chromedp.Click("#look"))
		b.waitText("#preview", "private keys, not encrypted")
		b.waitText("#preview", name)
		b.do(chromedp.Click("#preview button.primary"))
		b.waitText("h1", name)
		if name == "read there" {
			b.do(chromedp.Click("[data-call=checkwallet]"))
			b.waitText("#alert", "new transactions, up to block")
		}
		var loaded []string
		if w.Get(&loaded, "listwallets"); !slices.Contains(loaded, name) {
			t.Errorf("%s is not among %q", name, loaded)
		}
		w.Get(nil, "unloadwallet", name)
	}
	b.visit("ui/restore")
	b.do(chromedp.Click("#look"))
	b.waitText("#restore-problem", "Choose a backup")
	w.uploads(0)
	b.do(chromedp.SetUploadFiles("#backup", []string{backup}), chromedp.SendKeys("#name", "left"))
	b.do(chromedp.Click("#look"))
	b.wait(`document.getElementById('drop-upload')`)
	w.uploads(1)
	b.visit("") // who leaves the page leaves nothing
	w.uploads(0)
	huge := filepath.Join(t.TempDir(), "huge.dat")
	if err := os.WriteFile(huge, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, 256<<20+1); err != nil {
		t.Fatal(err)
	}
	b.visit("ui/restore")
	b.do(chromedp.SetUploadFiles("#backup", []string{huge}), chromedp.Click("#look"))
	b.waitText("#restore-problem", "larger than 256 MiB")
}

// uploads waits until the node keeps so many uploads.
func (w *world) uploads(want int) {
	w.t.Helper()
	e2e.Eventually(w.t, patience, fmt.Sprintf("%d uploads", want), func() bool {
		kept, err := filepath.Glob(filepath.Join(w.NetDir, "webui-uploads", "*"))
		return err == nil && len(kept) == want
	})
}
