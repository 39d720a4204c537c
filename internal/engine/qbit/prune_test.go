package qbit

import (
	"errors"
	"testing"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/pruning"
	"github.com/seed61375155/trawl/messages"
)

// A pruned chain goes on, keeps its unspent outputs and headers, and refuses to go
// where it has no blocks, also after it is opened again.
func TestPrune(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openIn(t, dir, regtest(t, dialect.Choices{}), new(pruning.Config))
	feed(t, e, chainBlocks(t)[1:])
	before, sum, hash := unspent(t, e)
	if err := e.Prune(600); err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		r := e.Reader()
		old, recent := r.Active().At(22), r.Active().At(1010)
		if old.Status()&chainview.Pruned == 0 || len(old.Payload()) == 0 {
			t.Errorf("block 22 has status %b", old.Status())
		}
		if _, err := r.Raw(&old.Hash); !errors.Is(err, chainview.ErrPruned) {
			t.Errorf("block 22: %v", err)
		}
		if _, err := r.Raw(&recent.Hash); err != nil {
			t.Error(err)
		}
		if n, s, h := unspent(t, e); n != before || s != sum || h != hash {
			t.Errorf("%d unspent outputs of %d", n, s)
		}
		if err := e.Invalidate(&old.Hash); !errors.Is(err, messages.ErrBlockPruned) {
			t.Errorf("leaving removed blocks behind: %v", err)
		}
		tip := r.Active().Tip()
		if err := e.Invalidate(&recent.Hash); err != nil {
			t.Fatal(err)
		}
		if err := e.Reconsider(&recent.Hash); err != nil || e.Reader().Active().Tip() != tip {
			t.Errorf("not back at the tip: %v", err)
		}
		if round > 0 {
			block := chainBlocks(t)[22]
			if err := e.Restore(block); err != nil {
				t.Fatal(err)
			}
			if raw, err := r.Raw(&old.Hash); err != nil || string(raw) != string(block) {
				t.Errorf("block 22 is not stored again: %v", err)
			}
			if got := reason(t, e.Restore(block)); got != "duplicate" {
				t.Errorf("block 22 once more: %q", got)
			}
			break
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e = openIn(t, dir, regtest(t, dialect.Choices{}), new(pruning.Config))
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
