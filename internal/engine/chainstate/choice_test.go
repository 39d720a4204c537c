package chainstate_test

import (
	"errors"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
)

func fresh(tb testing.TB) *bitcoin.Engine {
	tb.Helper()
	e := open(tb, tb.TempDir(), network(tb, "regtest"))
	tb.Cleanup(func() { must(tb, e.Close()) })
	return e
}

// A side block that proves invalid only when its turn comes is no failure of the
// engine.
func TestInvalidSideBlock(t *testing.T) {
	e := fresh(t)
	root := genesis(t)
	good, bad := root.on(nil), root.on(nil, greedy)
	wantSubmit(t, e, "good", good, "")
	wantSubmit(t, e, "bad beside it", bad, "inconclusive")
	must(t, e.Invalidate(&good.hash))
	wantTip(t, e, "good invalidated", root)
	wantSubmit(t, e, "bad again", bad, "duplicate-invalid")
	wantSubmit(t, e, "child of bad", bad.on(nil), "bad-prevblk")
	must(t, e.Reconsider(&good.hash))
	wantTip(t, e, "good reconsidered", good)
	must(t, e.Reconsider(&bad.hash))
	wantTip(t, e, "bad reconsidered", good)
	wantSubmit(t, e, "child of bad, reconsidered", bad.on(nil), "inconclusive")
	wantTip(t, e, "at the end", good)
}

// The good blocks before a bad block are not left behind.
func TestReconsiderUpToBadBlock(t *testing.T) {
	e := fresh(t)
	good := genesis(t).on(nil)
	bad := good.on(nil, greedy)
	wantSubmit(t, e, "good", good, "")
	wantSubmit(t, e, "bad", bad, "bad-cb-amount")
	must(t, e.Invalidate(&good.hash))
	must(t, e.Reconsider(&bad.hash))
	wantTip(t, e, "child reconsidered", good)
	must(t, e.Reconsider(&good.hash))
	wantTip(t, e, "both reconsidered", good)
}

// A block that is reconsidered counts again although the tip has as much work.
func TestReconsiderTie(t *testing.T) {
	e := fresh(t)
	b0, b1 := genesis(t).on(nil), genesis(t).on(nil)
	wantSubmit(t, e, "b0", b0, "")
	wantSubmit(t, e, "b1", b1, "inconclusive")
	must(t, e.Invalidate(&b0.hash))
	wantTip(t, e, "b0 invalidated", b1)
	must(t, e.Reconsider(&b0.hash))
	wantTip(t, e, "b0 came first", b0)
	must(t, e.Invalidate(&b0.hash))
	must(t, e.Reconsider(&b0.hash))
	b2 := b0.on(nil)
	wantSubmit(t, e, "b2", b2, "")
	wantTip(t, e, "b2", b2)
	must(t, e.Invalidate(&b2.hash))
	wantTip(t, e, "b2 invalidated", b0)
}

// Of blocks with the same work the first to come is taken, unless another is
// preferred.
func TestTies(t *testing.T) {
	e := fresh(t)
	root := genesis(t)
	b := []*made{root.on(nil), root.on(nil), root.on(nil)}
	for i, want := range []string{"", "inconclusive", "inconclusive"} {
		wantSubmit(t, e, "block", b[i], want)
	}
	must(t, e.Invalidate(&b[0].hash))
	wantTip(t, e, "the first is gone", b[1])
	must(t, e.Precious(&b[2].hash))
	wantTip(t, e, "the last is preferred", b[2])
	must(t, e.Precious(&b[1].hash))
	wantTip(t, e, "the other is preferred", b[1])
	must(t, e.Reconsider(&b[0].hash))
	wantTip(t, e, "preferred over the first", b[1])
	must(t, e.Precious(&root.hash))
	wantTip(t, e, "less work is never preferred", b[1])
	must(t, e.Precious(&b[2].hash))
	must(t, e.Precious(&b[0].hash))
	wantTip(t, e, "preferred last", b[0])
}

// The status of other branches follows when blocks are invalidated and
// reconsidered.
func TestBranchStatus(t *testing.T) {
	e := fresh(t)
	main := genesis(t).chainOn(4)
	side := append([]*made{}, main[1].chainOn(1)...)
	for _, b := range main {
		wantSubmit(t, e, "main", b, "")
	}
	wantSubmit(t, e, "side", side[0], "inconclusive")
	invalid := func(b *made) bool { return e.Reader().Lookup(&b.hash).Status().Invalid() }
	must(t, e.Invalidate(&main[0].hash))
	if !invalid(side[0]) || !invalid(main[3]) {
		t.Error("a branch above an invalidated block is not invalid")
	}
	must(t, e.Reconsider(&main[3].hash))
	if invalid(main[3]) || invalid(main[0]) {
		t.Error("a reconsidered branch is invalid")
	}
	if !invalid(side[0]) {
		t.Error("a branch that was not reconsidered is valid")
	}
	wantTip(t, e, "reconsidered", main[3])
	must(t, e.Reconsider(&side[0].hash))
	if s := e.Reader().Lookup(&side[0].hash).Status(); s != chainview.HasData {
		t.Errorf("a reconsidered side block has status %b", s)
	}
}

// Each step of the tip is reported once it is on the disk, also those to a block that breaks a rule
// and back.
func TestMoves(t *testing.T) {
	e := fresh(t)
	root := genesis(t)
	check := func(what string, want ...*made) {
		t.Helper()
		moves := e.Moves()
		if len(moves) != len(want) {
			t.Fatalf("%s: %d steps, want %d", what, len(moves), len(want))
		}
		for i, m := range moves {
			if m.Tip.Hash != want[i].hash || m.Totals.Txs != uint64(want[i].height)+1 {
				t.Errorf("%s: step %d to %v with %d transactions, want height %d",
					what, i, m.Tip.Hash, m.Totals.Txs, want[i].height)
			}
		}
	}
	check("opened")
	a := root.on(nil)
	b, c := a.on(nil), a.chainOn(2)
	wantSubmit(t, e, "a", a, "")
	wantSubmit(t, e, "b", b, "")
	check("two blocks", a, b)
	check("nothing new")
	wantSubmit(t, e, "c0", c[0], "inconclusive")
	check("a side chain")
	wantSubmit(t, e, "c1", c[1], "")
	check("a reorganisation", a, c[0], c[1])
	side := root.chainOn(3)
	bad := side[2].on(nil, greedy)
	for _, b := range side {
		wantSubmit(t, e, "a block of a side chain", b, "inconclusive")
	}
	wantSubmit(t, e, "one too greedy", bad, "bad-cb-amount")
	check("a block that breaks a rule",
		c[0], a, root, side[0], side[1], side[2], side[1], side[0], root, a, c[0], c[1])
	wantTip(t, e, "at the end", c[1])
	must(t, e.Invalidate(&c[0].hash))
	wantTip(t, e, "invalidated", side[2])
	check("invalidated", c[0], a, root, side[0], side[1], side[2])
	must(t, chainstate.FailWrites(e, 8<<20, func() error { return syscall.ENOSPC }))
	if err := e.Accept(side[2].on(nil).raw); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a full disk: %v", err)
	}
	check("nothing is on the disk")
}
