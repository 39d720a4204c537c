package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// patience is how long a browser may take for one step: generous, for a busy machine.
const patience = 20 * time.Second

// chromium returns the path of the browser, empty where there is none.
var chromium = sync.OnceValue(func() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
})

// launch starts a browser of its own for a test, with more flags than tests have anyway.
func launch(t *testing.T, more ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	if chromium() == "" {
		const why = "there is no Chromium: `make test-browser` installs it from Debian's packages"
		if os.Getenv("CI") == "true" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	dir, err := os.MkdirTemp("", "trawl-browser-") //nolint:usetesting // the browser writes a moment after its end
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), slices.Concat(
		flags(), more, []chromedp.ExecAllocatorOption{chromedp.ExecPath(chromium()), chromedp.UserDataDir(dir)})...)
	ctx, cancelBrowser := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		cancelBrowser()
		cancel()
		if err := remove(dir); err != nil {
			t.Log(err)
		}
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("Chromium does not start: %v", err)
	}
	return ctx
}

// flags turn off what a browser does by itself and not in a test.
func flags() []chromedp.ExecAllocatorOption {
	all := []chromedp.ExecAllocatorOption{
		chromedp.Headless, chromedp.NoSandbox, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
		chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("password-store", "basic"),
	}
	for _, name := range []string{
		"disable-gpu", "disable-quic", "disable-background-networking", "disable-component-update", "disable-sync",
		"disable-default-apps", "disable-extensions", "disable-dev-shm-usage", "disable-breakpad",
	} {
		all = append(all, chromedp.Flag(name, true))
	}
	return all
}

// remove takes a profile away, in which the browser may write a moment after its end.
func remove(dir string) (err error) {
	for range 20 {
		if err = os.RemoveAll(dir); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("profile of the browser: %w", err)
}
