package chainstate_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/engine/bitcoin"
)

// movesOf returns the steps of the tip since the last call, as heights. A step onto a better branch
// also has the height of the old tip.
func movesOf(e *bitcoin.Engine) string {
	var text []string
	for _, m := range e.Moves() {
		step := strconv.Itoa(int(m.Tip.Height))
		if m.Left != nil {
			step += fmt.Sprintf("(%d)", m.Left.Height)
		}
		text = append(text, step)
	}
	return strings.Join(text, " ")
}

// A step tells of the branch that was left for a better one, once it is better, and of no branch that the
// operator takes back.
func TestLeftBranches(t *testing.T) {
	e := fresh(t)
	root := genesis(t)
	a, b := root.chainOn(3), root.chainOn(5)
	want := func(what, moves string) {
		t.Helper()
		if got := movesOf(e); got != moves {
			t.Errorf("%s: %q, want %q", what, got, moves)
		}
	}
	want("opened", "")
	for _, block := range a {
		must(t, e.Accept(block.raw))
	}
	want("a chain", "1 2 3")
	for _, block := range b {
		must(t, e.Accept(block.raw))
	}
	want("a longer branch", "2 1 0 1 2 3 4(3) 5")
	must(t, e.Invalidate(&b[1].hash))
	want("taken back by hand", "4 3 2 1 0 1 2(1) 3") // all that is left of the branch is worse
	must(t, e.Reconsider(&b[1].hash))
	want("reconsidered", "2 1 0 1 2 3 4(3) 5")
	c := b[3].on(nil)
	must(t, e.Accept(c.raw))
	want("as much work", "")
	must(t, e.Precious(&c.hash))
	want("preferred", "4 5(5)")
	bad := c.on(nil, greedy)
	if err := e.Accept(bad.raw); err == nil {
		t.Error("a bad block was taken")
	}
	want("a bad block", "")
	wantSubmit(t, e, "a branch that breaks a rule", b[4].on(nil, greedy), "bad-cb-amount")
	want("a branch that breaks a rule", "4 5 4 5")
}
