package chainstate_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed61375155/trawl/messages"
)

// A block that cannot be taken back ends the engine, with the words that operators know and
// the reason behind them.
func TestUndoMissing(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, quick(t))
	chain := genesis(t).chainOn(3)
	for _, b := range chain {
		wantSubmit(t, e, "block", b, "")
	}
	must(t, os.Remove(filepath.Join(dir, "blocks", "rev00000.dat")))
	err := e.Invalidate(&chain[2].hash)
	fatal, ok := errors.AsType[*messages.FatalError](err)
	if !ok || fatal.Error() != "A fatal internal error occurred, see debug.log for details: Failed to disconnect block." {
		t.Fatalf("got %v", err)
	}
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the reason is lost: %v", fatal.Err)
	}
	_ = e.Close()
}
