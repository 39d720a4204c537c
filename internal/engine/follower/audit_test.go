package follower_test

import (
	"testing"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/follower"
)

// unaudited returns the heights of all blocks whose filters were not built here.
func unaudited(t *testing.T, e *follower.Engine) (heights []int32) {
	t.Helper()
	reader := e.Reader().(chainview.FilterAuditor)
	for from := int32(0); from <= reader.Active().Height(); {
		blocks, next, err := reader.Unaudited(from)
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
	if got := unaudited(t, e); got != nil {
		t.Errorf("before any filter was taken: %d", got)
	}
	f.readFilters(t, e)
	if got := unaudited(t, e); len(got) != blocks-10 || got[0] != 1 || got[len(got)-1] != blocks-10 {
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
	if got := unaudited(t, e); len(got) != blocks-10-1100 || got[0] != 1101 {
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
