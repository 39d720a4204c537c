package follower_test

import (
	"testing"

	"github.com/seed61375155/trawl/internal/chainview"
)

// A block whose header alone is known is not called connected before the chain has moved
// to it: nothing that is made of connected blocks can be there.
func TestHeaderIsNotConnected(t *testing.T) {
	t.Parallel()
	f := newFakeCore(t)
	fork := f.mine(f.tip, 5, 1)
	f.tip = f.mine(fork, 5, 1)
	e := open(t, f.config(t, t.TempDir()))
	follow(t, e)
	other := f.mine(fork, 2, 2)
	asked := false
	f.set(func(f *fakeCore) {
		f.invalid, f.tip, f.headers = f.mine(f.tip, 1, 3), other, 9
		f.asked = func(what string) { // after the headers were read, before the chain moves
			b := e.Reader().Lookup(&other.Hash)
			if what == "getchaintips" {
				asked = b != nil && b.Status()&chainview.Valid == 0
			}
		}
	})
	if err := e.Follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !asked {
		t.Error("the header is not known, or its block called connected, while Core is asked")
	}
	f.set(func(f *fakeCore) { f.asked, f.headers = nil, 0 })
	follow(t, e)
	b := e.Reader().Lookup(&other.Hash)
	if e.Reader().Active().Tip() != b || b.Status()&chainview.Valid == 0 {
		t.Errorf("the tip is %v, %b", e.Reader().Active().Tip().Hash, b.Status())
	}
}
