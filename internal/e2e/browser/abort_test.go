package browser

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// testAbort: a scan that others have started is shown while it runs, and its button ends it.
func testAbort(t *testing.T, w *world, b *tab, _ string) {
	t.Helper()
	b.visit("")
	for _, method := range []string{"scanblocks", "scantxoutset"} {
		ended := make(chan error, 1)
		go func() { ended <- scanUntilAborted(t.Context(), w, method) }()
		if err := b.pressUntil(ended, method); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// pressUntil presses the button of a method, whenever it is there, until something has ended, and returns what
// that ended with. The button is gone then.
func (b *tab) pressUntil(ended <-chan error, method string) (err error) {
	b.t.Helper()
	button := "[data-call=" + method + "]"
	press := fmt.Sprintf("document.querySelector(%s)?.click()", quote(button+":not(:disabled)"))
	deadline := time.After(2 * patience)
	for running := true; running; {
		eval[any](b, press) // in one step: where the machine is fast the button is soon gone
		select {
		case err = <-ended:
			running = false
		case <-time.After(30 * time.Millisecond):
		case <-deadline:
			b.t.Fatalf("%s ended nothing\n%s", method, b.dump())
		}
	}
	b.wait(fmt.Sprintf("!document.querySelector(%s)", quote(button)))
	return err
}

// testAbortRescan: a rescan that another caller has started is shown while it runs, on the overview and on the
// page of its wallet, and the button of each ends it. The wallet has a payment in nearly every block, and looks
// through the chain again and again, so that it is seen at it wherever the machine is fast.
func testAbortRescan(t *testing.T, w *world, b *tab, _ string) {
	t.Helper()
	const wallet = "miner"
	w.mine(1000)
	for _, path := range []string{"", "ui/wallet?name=" + wallet} {
		b.visit(path)
		ended := make(chan error, 1)
		go func() { ended <- rescanUntilAborted(t.Context(), w, wallet) }()
		if err := b.pressUntil(ended, "abortrescan"); !strings.Contains(err.Error(), "Rescan aborted") {
			t.Errorf("%q: %v", path, err)
		}
		b.waitText("#said", "done")
	}
}

// rescanUntilAborted has a wallet look through the whole chain until that fails, and returns how.
func rescanUntilAborted(ctx context.Context, w *world, wallet string) error {
	for {
		if err := w.CallWallet(ctx, wallet, nil, "rescanblockchain"); err != nil {
			return err
		}
	}
}

// scanUntilAborted makes a scan again and again until one is aborted.
func scanUntilAborted(ctx context.Context, w *world, method string) error {
	for {
		var result struct {
			Completed bool // of scanblocks
			Success   bool // of scantxoutset
		}
		err := w.Call(ctx, &result, method, "start", []any{map[string]any{"desc": w.desc, "range": 999_999}})
		if err != nil || !result.Completed && !result.Success {
			return err
		}
	}
}
