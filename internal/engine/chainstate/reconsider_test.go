package chainstate_test

import (
	"testing"

	"github.com/seed61375155/trawl/internal/enginetest"
)

// Reconsidering an ancestor of several branches leads to the one with the most work.
func TestReconsiderOfManyBranches(t *testing.T) {
	e, err := enginetest.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	mine(t, e, trueScript, 10)
	short := mine(t, e, []byte{0x52}, 2)
	if err := e.Invalidate(&short[0]); err != nil {
		t.Fatal(err)
	}
	long := mine(t, e, []byte{0x53}, 3)
	first := e.Reader().Active().At(5).Hash
	if err := e.Invalidate(&first); err != nil {
		t.Fatal(err)
	}
	mine(t, e, []byte{0x54}, 1)
	if err := e.Reconsider(&first); err != nil {
		t.Fatal(err)
	}
	if got := e.Reader().Active().Tip(); got.Hash != long[2] {
		t.Errorf("the tip is at %d, want the end of the longest branch", got.Height)
	}
	tip := e.Reader().Active().Tip()
	mine(t, e, trueScript, 1)
	if e.Reader().Active().Tip().Parent != tip {
		t.Error("the chain does not go on")
	}
}
