package follower_test

import (
	"testing"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/follower"
)

// unaudited returns the heights of the blocks, up to one, whose filters were not built here.
func unaudited(t *testing.T, e *follower.Engine, to int32) (heights []int32) {
	t.Helper()
	reader := e.Reader().(chainview.FilterAuditor)
	for from := int32(0); from <= to; {
		blocks, next, err := reader.Unaudited(from, to)
		if err != nil || next <= from {
			t.Fatalf("from height %d on: %d, %v", from, next, err)
		}
		for _, b := range blocks {
			heights = append(heights, b.Height)
		}
		from = next
	}
	return heights
}

// Which filters are Core's, and which of them were built here as well, is known after
// another start; and that none is to be taken.
func TestAudited(t *testing.T) {
	t.Parallel()
	const blocks = 1300
	f := newFakeCore(t)
	f.filters = true
	f.tip = f.mine(f.tip, blocks, 1)
	cfg := f.config(t, t.TempDir())
	cfg.Filters = f.writeFilters(t, nil)
	e := open(t, cfg)
	follow(t, e)
	if got := unaudited(t, e, 0); got != nil {
		t.Errorf("before any filter was taken: %d", got)
	}
	f.readFilters(t, e)
	if got := unaudited(t, e, blocks); len(got) != blocks-10 || got[0] != 1 || got[len(got)-1] != blocks-10 {
		t.Fatalf("%d filters are Core's: %d", len(got), got)
	}
	reader := e.Reader().(chainview.FilterAuditor)
	for height := int32(1); height <= 1100; height++ {
		if err := reader.Audited(reader.Active().At(height)); err != nil {
			t.Fatal(err)
		}
	}
	if state := e.State(); state.Verified != 1100 || state.Refused {
		t.Errorf("compared up to height %d, refused: %v", state.Verified, state.Refused)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = open(t, cfg)
	follow(t, e)
	if got := unaudited(t, e, blocks); len(got) != blocks-10-1100 || got[0] != 1101 {
		t.Errorf("after another start %d filters are Core's: %d", len(got), got)
	}
	if err := e.Reader().(chainview.FilterAuditor).RefuseFilters(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if taken := f.readFilters(t, e); taken != 0 || !e.State().Refused {
			t.Errorf("%d filters are taken after one was wrong, %+v", taken, e.State())
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e = open(t, cfg)
		follow(t, e)
	}
}

// Filters of blocks are not compared, and do not count as compared, if the blocks could
// only be read again as text, at great cost.
func TestNotAudited(t *testing.T) {
	t.Parallel()
	f := newFakeCore(t)
	f.filters, f.rest, f.spent = true, false, false
	f.tip = f.mine(f.tip, 30, 1)
	cfg := f.config(t, t.TempDir())
	cfg.Filters = f.writeFilters(t, nil)
	e := open(t, cfg)
	follow(t, e)
	f.readFilters(t, e)
	if got := unaudited(t, e, 30); got != nil {
		t.Errorf("blocks are read again at heights %d", got)
	}
	if state := e.State(); state.Verified != 0 {
		t.Errorf("compared up to height %d", state.Verified)
	}
}

// After a reorganisation what is above the fork is looked at anew.
func TestAuditedBeforeReorganisation(t *testing.T) {
	t.Parallel()
	f := newFakeCore(t)
	f.filters = true
	fork := f.mine(f.tip, 20, 1)
	after := f.mine(fork, 40, 2)
	cfg := f.config(t, t.TempDir())
	f.tip = after
	cfg.Filters = f.writeFilters(t, nil)
	f.tip = f.mine(fork, 20, 1)
	e := open(t, cfg)
	follow(t, e)
	if got := unaudited(t, e, 40); got != nil || e.State().Verified != 40 {
		t.Errorf("own filters: %d, compared up to height %d", got, e.State().Verified)
	}
	f.goTo(after)
	follow(t, e)
	f.readFilters(t, e)
	blocks, _, err := e.Reader().(chainview.FilterAuditor).Unaudited(41, 60)
	if err != nil || len(blocks) != 30 || blocks[0].Height != 21 || e.State().Verified != 20 {
		t.Errorf("%d blocks, compared up to height %d, %v", len(blocks), e.State().Verified, err)
	}
}
